// SPDX-License-Identifier: MIT

/// A filter that determines the weights of source pixels when an image is resized.
public enum ResamplingFilter: Sendable, Hashable {
    /// Lanczos with three lobes, which is sharp but can cause slight ringing at hard edges.
    case lanczos3
    /// The exact area average, which is softer, causes no ringing, and takes less than half the time.
    case box
}
