// SPDX-License-Identifier: MIT

#if GTK || canImport(UIKit)
    import KingfisherCompat

    /// A cell with a product.
    @MainActor
    final class ProductCell {
        let imageView = UIImageView()
        private(set) var results: [String] = []

        init() {
            imageView.contentMode = .scaleAspectFit
            imageView.kf.indicatorType = .activity
        }

        func show(_ url: URL?, placeholder: UIImage? = nil, failure: UIImage? = nil) {
            imageView.kf.setImage(
                with: url, placeholder: placeholder,
                options: [.transition(.fade(0.1)), .onFailureImage(failure), .keepCurrentImageWhileLoading]
            ) { [weak self] result in
                switch result {
                case .success(let value): self?.results.append("\(value.cacheType)")
                case .failure(let error) where error.isNotCurrentTask: self?.results.append("replaced")
                case .failure(let error) where error.isTaskCancelled: self?.results.append("cancelled")
                case .failure(let error): self?.results.append("error \(error.errorCode)")
                }
            }
        }

        func prepareForReuse() { imageView.kf.cancelDownloadTask() }
    }
#endif
