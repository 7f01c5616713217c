// SPDX-License-Identifier: MIT

#if GTK || canImport(UIKit)
    import SDWebImageCompat

    /// A cell with a photo.
    @MainActor
    final class PhotoCell {
        let imageView = UIImageView()
        private(set) var errors: [Int] = []
        private(set) var received = 0
        private(set) var cacheTypes: [SDImageCacheType] = []

        init() {
            imageView.contentMode = .scaleAspectFill
            imageView.sd_imageTransition = .fade(duration: 0.1)
            imageView.sd_imageIndicator = SDWebImageActivityIndicator.gray
        }

        func show(_ url: URL?, placeholder: UIImage? = nil, options: SDWebImageOptions = []) {
            imageView.sd_setImage(
                with: url, placeholderImage: placeholder, options: options,
                progress: { [weak self] received, _, _ in self?.received = received },
                completed: { [weak self] _, error, cacheType, _ in
                    if let error = error as? SDWebImageError { self?.errors.append(error.code.rawValue) }
                    if error == nil { self?.cacheTypes.append(cacheType) }
                })
        }

        func prepareForReuse() {
            imageView.sd_cancelCurrentImageLoad()
            imageView.image = nil
        }
    }
#endif
