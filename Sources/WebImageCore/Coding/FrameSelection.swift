// SPDX-License-Identifier: MIT

/// A selection of the frames of an animation, the images of an icon, or the pages of a document.
public enum FrameSelection: Sendable, Hashable {
    /// All frames. Decoders decode them on demand. Encoders write the first frame if the format doesn't support
    /// animations.
    case all
    /// Only the first frame, as a still image.
    case first
    /// Only the frame with this index, counted from 0, as a still image.
    case index(Int)
    /// The frames with these indices, counted from 0. A single frame becomes a still image.
    case range(Range<Int>)
    /// The frames with these indices in this order, counted from 0. A single frame becomes a still image.
    case indices([Int])

    /// The selection with which a coder decodes the image before the selected frames are chosen.
    ///
    /// Coders receive only ``all``, ``first``, and ``index(_:)``. The registry decodes all frames on demand for the other
    /// cases and then chooses the frames.
    package var coderSelection: FrameSelection {
        switch self {
        case .all, .first, .index: self
        case .range, .indices: .all
        }
    }
}
