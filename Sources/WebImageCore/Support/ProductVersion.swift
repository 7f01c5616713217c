// SPDX-License-Identifier: MIT

/// The version of the package. This is the only place that contains it: `Scripts/version` reads this file for packages,
/// archives, and the AppStream metadata, and the man pages contain both values.
package enum ProductVersion {
    /// The version, according to Semantic Versioning.
    package static let current = "0.9.0"
    /// The date of the release (ISO 8601). Until then, it's the date of the last change of the man pages.
    package static let date = "2026-11-27"
}
