// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// The behavior of an isolated coder if no helper can be used.
package enum IsolationFallback: Sendable, Hashable {
    /// The coder works in this process.
    case inProcess
    /// The coder fails with ``ImageError/DecodingFailure/Reason/isolationUnavailable(_:)``.
    case refuse
}

/// The decision which coders work in a helper process.
package struct IsolationPolicy: Sendable {
    /// The helpers, or `nil` if no helper is installed.
    package var pool: HelperPool?
    /// The reason why there are no helpers, as a clause.
    package var reason: String
    /// Whether the coders of all formats work in a helper. Otherwise, those of JPEG, PNG, GIF, WebP, BMP, ICO, QOI,
    /// Netpbm, and camera RAW files work in this process.
    package var isolatesAllFormats: Bool
    /// Whether no coder works in this process.
    package var isRequired: Bool
    /// Whether vector images come from a trusted source, so that this process may decode them without a helper.
    package var trustsVectors: Bool

    /// Creates a policy.
    package init(
        pool: HelperPool?, reason: String = "no helper is installed", isolatesAllFormats: Bool = false,
        isRequired: Bool = false, trustsVectors: Bool = false
    ) {
        self.pool = pool
        self.reason = reason
        self.isolatesAllFormats = isolatesAllFormats
        self.isRequired = isRequired
        self.trustsVectors = trustsVectors
    }

    /// The formats whose coders are small and audited, so that they usually work in this process.
    private static let core: [ImageFormat] = [
        .jpeg, .png, .apng, .gif, .webp, .bmp, .ico, .qoi, .pbm, .pgm, .ppm, .pam, .dng,
    ]
    /// The formats of `core` whose coders use a library that is loaded with its first use: The coder of camera RAW files
    /// decodes previews in TIFF files.
    private static let withLibraries: [ImageFormat] = [.dng]

    /// Returns the coder that works as this policy demands.
    package func isolating(_ coder: any ImageCoder) -> any ImageCoder {
        let isVector = [ImageFormat.svg, .pdf].contains { coder.canDecode($0, prefix: Data()) }
        let isCore = Self.core.contains { coder.canDecode($0, prefix: Data()) }
        guard isVector || !isCore || isolatesAllFormats || isRequired else { return coder }
        // The libraries for SVG and PDF interpret whole documents, so this process never passes untrusted data to them.
        let refuses = isRequired || isVector && !trustsVectors
        // Without helpers, an isolated coder would only forward each call.
        if pool == nil, !refuses { return coder }
        let needsLibrary = !isCore || Self.withLibraries.contains { coder.canDecode($0, prefix: Data()) }
        return IsolatedCoder(
            coder, pool: pool, reason: reason, kind: isVector ? .vector : needsLibrary ? .raster : .core,
            fallback: refuses ? .refuse : .inProcess)
    }
}

extension ImageCoderRegistry {
    /// Returns the registry with its built-in coders isolated as a policy demands. The custom coders of an application
    /// remain in its process.
    ///
    /// - Parameter builtIn: The coders that the helper has, too.
    package func isolated(by policy: IsolationPolicy, builtIn: ImageCoderRegistry) -> ImageCoderRegistry {
        mapping { coder in
            // A coder of the application may have the name of a built-in one.
            guard let known = builtIn.coder(named: coder.identifier), type(of: known) == type(of: coder) else {
                return coder
            }
            return policy.isolating(coder)
        }
    }
}
