// SPDX-License-Identifier: MIT

#if GTK
    import WebImage
    import WebImageGTK
    import WebImageUI

    /// An image view, which is a GtkPicture. Add its property `widget` to a parent.
    public typealias UIImageView = WebPicture
    /// The name of the class in AppKit.
    public typealias NSImageView = WebPicture

    extension WebPicture {
        /// The image that the view displays. Setting it cancels the load of the view.
        public var image: UIImage? {
            get { view.image }
            set { view.image = newValue }
        }

        /// How the view fits the image into its bounds.
        public var contentMode: UIViewContentMode {
            get {
                switch view.contentFit {
                case .fill: .scaleToFill
                case .cover: .scaleAspectFill
                case .contain, .scaleDown: .scaleAspectFit
                }
            }
            set {
                switch newValue {
                case .scaleToFill: view.contentFit = .fill
                case .scaleAspectFit: view.contentFit = .contain
                case .scaleAspectFill: view.contentFit = .cover
                }
            }
        }
    }

    extension WebImageView {
        /// The image that the view displays, without placeholders. Setting it cancels the load of the view.
        public var image: UIImage? {
            get { displayedImage().map { UIImage(decoded: $0) } }
            nonmutating set {
                guard let newValue else { return clear() }
                let decoded = newValue.decoded
                var options = ImageViewOptions()
                options.sizing = .originalSize
                // Requests with the same key share their image while they run.
                let key = "UIImage \(UInt(bitPattern: ObjectIdentifier(decoded).hashValue))"
                load(ImageRequest(cacheKey: key, image: { decoded }).withoutCaches, options: options)
            }
        }
    }

    extension WebImageView {
        /// Loads an image and reports the progress of this load.
        package func load(
            _ request: ImageRequest?, options: ImageViewOptions, slot: ImageSlot = .image,
            until point: CompletionPoint = .loaded, progress: (@MainActor @Sendable (Int, Int?) -> Void)?,
            completion: @escaping @MainActor @Sendable (Result<ImageResponse, ImageError>) -> Void
        ) {
            load(request, options: options, slot: slot, until: point) { result in
                // The widget retains the closure, which often retains the owner of the widget.
                if progress != nil { onChange(of: slot, nil) }
                completion(result)
            }
            guard let progress else { return }
            // An image in memory is already complete. The replaced load has removed its closure.
            switch snapshot(of: slot).state {
            case .waiting, .loading, .previewing:
                onChange(of: slot) { snapshot in
                    guard let value = snapshot.progress else { return }
                    progress(value.receivedByteCount, value.expectedByteCount)
                }
            case .idle, .showing, .failed, .cancelled: break
            }
        }
    }

    /// The name space of the states of a control.
    public enum UIControl {
        /// A state of a control, which can have its own image.
        public enum State: Sendable {
            /// The state without another state.
            case normal
            /// The state while the control is pressed.
            case highlighted
            /// The state of a control that can’t be used.
            case disabled

            package var buttonState: ButtonState {
                switch self {
                case .normal: .normal
                case .highlighted: .active
                case .disabled: .disabled
                }
            }
        }
    }

    /// How a view fits an image into its bounds.
    public enum UIViewContentMode: Sendable {
        /// Stretches the image to the bounds.
        case scaleToFill
        /// Shows the whole image.
        case scaleAspectFit
        /// Covers the bounds and crops the image.
        case scaleAspectFill
    }
#endif
