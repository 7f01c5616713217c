// SPDX-License-Identifier: MIT

#if GTK || canImport(UIKit)
    import NukeCompat

    /// A view with a photo.
    @MainActor
    final class PhotoView {
        let imageView = UIImageView()
        private(set) var results: [String] = []

        init() {}

        func show(_ url: URL?, placeholder: UIImage? = nil, failure: UIImage? = nil) {
            var options = ImageLoadingOptions(
                placeholder: placeholder, transition: .fadeIn(duration: 0.1), failureImage: failure)
            options.processors = [.roundedCorners(radius: 4)]
            loadImage(with: url, options: options, into: imageView) { [weak self] result in
                switch result {
                case .success(let response): self?.results.append(response.cacheType == .memory ? "memory" : "loaded")
                case .failure(.imageRequestMissing): self?.results.append("missing")
                case .failure(.cancelled): self?.results.append("cancelled")
                case .failure: self?.results.append("failed")
                }
            }
        }

        func prepareForReuse() { cancelRequest(for: imageView) }
    }
#endif
