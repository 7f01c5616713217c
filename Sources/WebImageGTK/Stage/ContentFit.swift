// SPDX-License-Identifier: MIT

#if GTK
    /// How a picture takes its place.
    public enum ContentFit: Int, Sendable, Hashable, CaseIterable {
        // The raw values are GtkContentFit's.

        /// Stretched to the place.
        case fill = 0
        /// All of it, as large as it can be in the place.
        case contain = 1
        /// All of the place covered; what does not fit is cut off.
        case cover = 2
        /// As ``contain``, and never larger than the picture is.
        case scaleDown = 3
    }

    /// A rectangle in points.
    struct StageRect: Equatable {
        var x: Double
        var y: Double
        var width: Double
        var height: Double

        /// The part that both have.
        func intersection(_ other: StageRect) -> StageRect {
            let (left, top) = (max(x, other.x), max(y, other.y))
            let (right, bottom) = (min(x + width, other.x + other.width), min(y + height, other.y + other.height))
            return StageRect(x: left, y: top, width: max(0, right - left), height: max(0, bottom - top))
        }
    }

    extension ContentFit {
        /// Where a picture of `size` lies in a place of `box`, both in points, centred.
        func rect(of size: (width: Double, height: Double), in box: (width: Double, height: Double)) -> StageRect {
            guard self != .fill, size.width > 0, size.height > 0 else {
                return StageRect(x: 0, y: 0, width: box.width, height: box.height)
            }
            let (across, down) = (box.width / size.width, box.height / size.height)
            let scale =
                switch self {
                case .cover: max(across, down)
                case .scaleDown: min(1, across, down)
                default: min(across, down)
                }
            let (width, height) = (size.width * scale, size.height * scale)
            return StageRect(x: (box.width - width) / 2, y: (box.height - height) / 2, width: width, height: height)
        }
    }
#endif
