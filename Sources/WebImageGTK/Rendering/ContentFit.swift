// SPDX-License-Identifier: MIT

#if GTK
    /// A value that describes how an image fits into the bounds of its view.
    public enum ContentFit: Int, Sendable, Hashable, CaseIterable {
        // The raw values are those of GtkContentFit.

        /// The image is stretched to fill the bounds.
        case fill = 0
        /// The image is scaled to the largest size at which all of it is visible.
        case contain = 1
        /// The image is scaled to cover the bounds, and the parts outside are clipped.
        case cover = 2
        /// As ``contain``, but the image is never enlarged.
        case scaleDown = 3
    }

    /// A rectangle in points.
    struct LayoutRect: Equatable {
        var x: Double
        var y: Double
        var width: Double
        var height: Double

        func intersection(_ other: LayoutRect) -> LayoutRect {
            let (left, top) = (max(x, other.x), max(y, other.y))
            let (right, bottom) = (min(x + width, other.x + other.width), min(y + height, other.y + other.height))
            return LayoutRect(x: left, y: top, width: max(0, right - left), height: max(0, bottom - top))
        }
    }

    extension ContentFit {
        /// Returns the rectangle of an image of `size`, centered in bounds of the size `box`. Both sizes are in points.
        func rect(of size: (width: Double, height: Double), in box: (width: Double, height: Double)) -> LayoutRect {
            guard self != .fill, size.width > 0, size.height > 0 else {
                return LayoutRect(x: 0, y: 0, width: box.width, height: box.height)
            }
            let (across, down) = (box.width / size.width, box.height / size.height)
            let scale =
                switch self {
                case .cover: max(across, down)
                case .scaleDown: min(1, across, down)
                default: min(across, down)
                }
            let (width, height) = (size.width * scale, size.height * scale)
            return LayoutRect(x: (box.width - width) / 2, y: (box.height - height) / 2, width: width, height: height)
        }
    }
#endif
