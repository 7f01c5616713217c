// SPDX-License-Identifier: MIT

import AppleNames
import Foundation
import WebImage
import WebImageUI

/// A type with an image that this library sets, such as a view of another toolkit.
@MainActor
public protocol KingfisherHasImageComponent: AnyObject, KingfisherCompatible {
    /// The image.
    var image: KFCrossPlatformImage? { get set }
}

/// The binders of components. A component has a binder from its first load until it’s deallocated.
@MainActor
enum ComponentBinders {
    private struct Entry {
        weak var component: (any KingfisherHasImageComponent)?
        let binder: ImageBinder
    }

    private static var entries: [ObjectIdentifier: Entry] = [:]

    static func binder(of component: any KingfisherHasImageComponent) -> ImageBinder {
        entries = entries.filter { $0.value.component != nil }
        if let entry = entries[ObjectIdentifier(component)] { return entry.binder }
        let binder = ImageBinder(manager: .shared) { [weak component] presentation in
            component?.image = presentation.image.map { UIImage(decoded: $0) }
        }
        entries[ObjectIdentifier(component)] = Entry(component: component, binder: binder)
        return binder
    }
}

extension KF.Builder {
    /// Loads an image and sets it on a component. Only the last load of a component sets its image.
    public func set(to component: some KingfisherHasImageComponent) {
        let parsed = KingfisherParsedOptionsInfo(KingfisherManager.shared.defaultOptions + options)
        let binder = ComponentBinders.binder(of: component)
        guard let source else {
            binder.bind(nil, options: parsed.viewOptions(placeholder))
            failure?(.imageSettingError(reason: .emptySource))
            return
        }
        // The binder doesn't retain the component, which the caller may expect to receive the image.
        binder.bind(parsed.request(for: source), options: parsed.viewOptions(placeholder)) {
            [success, failure, component] result in
            _ = component
            switch result {
            case .success(let response): success?(RetrieveImageResult(response, source, parsed.modifier))
            case .failure(let error): failure?(KingfisherError(error, source))
            }
        }
    }
}

extension KingfisherParsedOptionsInfo {
    /// Returns the options of a view.
    func viewOptions(_ placeholder: KFCrossPlatformImage?) -> ImageViewOptions {
        var options = ImageViewOptions(placeholder: placeholder.map { .image($0.decoded) } ?? .empty)
        options.sizing = .originalSize
        options.manager = .shared
        for item in items {
            switch item {
            case .transition(let transition): options.transition = transition.mapped
            case .keepCurrentImageWhileLoading: options.keepsCurrentImage = true
            case .onFailureImage(let image): options.failurePlaceholder = image.map { .image($0.decoded) } ?? .empty
            case .loadDiskFileSynchronously: options.loadsFromDiskSynchronously = true
            default: break
            }
        }
        let isForced = items.contains { if case .forceTransition = $0 { true } else { false } }
        if isForced { options.transition = options.transition.forced() }
        return options
    }
}
