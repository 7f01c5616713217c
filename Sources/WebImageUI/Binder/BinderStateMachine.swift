// SPDX-License-Identifier: MIT

import WebImage
import WebImageCore

/// The state of a view and its loads, as a pure state machine.
///
/// Inputs return the actions to perform, in order, and ``ImageBinder`` performs them. Every load has a number. Events
/// of a superseded load are ignored, so a late image never appears.
struct BinderStateMachine {
    typealias LoadID = Int

    enum Action {
        /// Looks up the image in memory and starts a load. The binder immediately responds with ``started(_:_:)``.
        case start(LoadID, ImageRequest)
        case cancel(LoadID, survives: Bool)
        case setPriority(LoadID, RequestPriority)
        case present(PendingPresentation)
        case complete(generation: Int, Result<ImageResponse, ImageError>)
    }

    /// An ``ImageBinder/Presentation`` whose BlurHash or ThumbHash hasn't been rendered yet.
    struct PendingPresentation {
        let kind: ImageBinder.Presentation.Kind
        let content: ImagePlaceholder
        let transition: ImageTransition
        let generation: Int
    }

    /// The result of starting a load.
    enum StartResult {
        /// The load is finished because the image was in memory.
        case result(Result<ImageResponse, ImageError>)
        /// The load is running. Memory may contain the image, regardless of its age, or the image in another size.
        case pending(stored: DecodedImage?, otherSize: DecodedImage?)
    }

    enum Phase: Equatable {
        case idle
        case waiting
        case probing(LoadID)
        case loading(LoadID)
        case ended
    }

    /// The rank of displayed content. Content never replaces content of a higher rank in the same binding.
    enum ContentRank: Int, Comparable {
        case nothing, placeholder, otherSize, preview, stored, image
        static func < (left: ContentRank, right: ContentRank) -> Bool { left.rawValue < right.rawValue }
    }

    var generation = 0
    var phase = Phase.idle
    var request: ImageRequest?
    var options = ImageViewOptions()
    var isMapped: Bool
    var box: TargetBox?
    /// The bounds for which the last load was started.
    var requestedBounds: TargetBox?
    var lastLoad = 0
    /// The final image of this binding.
    var image: DecodedImage?
    var failure: ImageError?
    var progress: ImageTask.Progress?
    var hasCompleted = true
    var rank = ContentRank.nothing
    /// The content of the view, which can be from an earlier binding.
    var content: (kind: ImageBinder.Presentation.Kind, image: DecodedImage?)?

    init(isMapped: Bool) { self.isMapped = isMapped }

    // MARK: - Inputs

    mutating func bind(_ request: ImageRequest?, _ options: ImageViewOptions) -> [Action] {
        let ending = complete(.failure(.cancelled))
        let leaving = abandon()
        reset()
        self.request = request
        self.options = options
        hasCompleted = false
        if options.keepsCurrentImage, let kind = content?.kind, kind.isOfImage { rank = .otherSize }
        guard request != nil else { return ending + leaving + showEmpty() }
        // Start the new load first so that a shared download continues.
        return ending + begin() + leaving
    }

    mutating func unbind() -> [Action] {
        let actions = complete(.failure(.cancelled)) + abandon()
        reset()
        guard options.setsImageAutomatically, content != nil else { return actions }
        content = nil
        return actions + [.present(showing(.nothing, .empty))]
    }

    mutating func setMapped(_ mapped: Bool) -> [Action] {
        guard mapped != isMapped else { return [] }
        isMapped = mapped
        switch phase {
        case .idle: return []
        case .waiting: return mapped ? begin() : []
        case .ended:
            guard mapped else { return [] }
            return failure != nil && options.retriesWhenVisible ? again(ignoresFailures: false) : refine()
        case .probing(let load), .loading(let load): return mapped ? comeBack(load) : leave(load)
        }
    }

    mutating func allocate(_ allocation: ViewAllocation) -> [Action] {
        guard let box = TargetBox(allocation), box != self.box else { return [] }
        self.box = box
        switch phase {
        case .idle: return []
        case .waiting: return begin()
        case .ended: return refine()
        case .probing, .loading:
            guard isAutomatic, let requestedBounds, options.sizing.outgrows(requestedBounds, by: box) else { return [] }
            let leaving = abandon()
            return begin() + leaving
        }
    }

    mutating func setPriority(_ priority: RequestPriority) -> [Action] {
        request?.priority = priority
        guard let load, isMapped || options.offscreenBehavior == .continue else { return [] }
        return [.setPriority(load, priority)]
    }

    mutating func retry() -> [Action] {
        guard phase == .ended, failure != nil else { return [] }
        return again(ignoresFailures: true)
    }

    mutating func networkReturned() -> [Action] {
        guard options.retriesWhenNetworkReturns, let failure, failure.isNetworkOutage else { return [] }
        return retry()
    }

    mutating func started(_ load: LoadID, _ probe: StartResult) -> [Action] {
        guard phase == .probing(load) else { return [] }
        phase = .loading(load)
        switch probe {
        case .result(let result): return end(result, isInstant: true)
        case .pending(let stored, let otherSize):
            if let stored { return present(.cachedImage, .image(stored)) }
            if let otherSize, options.usesCachedPlaceholder { return present(.cachedPlaceholder, .image(otherSize)) }
            return presentPlaceholder()
        }
    }

    mutating func receive(_ event: ImageTask.Event, of load: LoadID) -> [Action] {
        guard phase == .loading(load) else { return [] }
        switch event {
        case .started, .waiting: return []
        case .progress(let progress):
            self.progress = progress
            return []
        case .cached(let response):
            return present(.cachedImage, .image(response.image), transition(for: response, isInstant: false))
        case .preview(let image): return present(.preview, .image(image), options.previewTransition)
        case .finished(let result): return end(result, isInstant: false)
        }
    }

    // MARK: - State

    var load: LoadID? {
        switch phase {
        case .probing(let load), .loading(let load): load
        case .idle, .waiting, .ended: nil
        }
    }

    var snapshot: ImageBinder.Snapshot {
        ImageBinder.Snapshot(state: state, progress: progress, content: content?.kind, generation: generation)
    }

    private var state: ImageBinder.State {
        if image != nil { return .showing }
        switch phase {
        case .idle: return .idle
        case .waiting: return .waiting
        case .probing, .loading: return rank >= .preview ? .previewing : .loading
        case .ended: return failure.map { .failed($0) } ?? .showing
        }
    }
}

extension ImageBinder.Presentation.Kind {
    /// A Boolean value that indicates whether the content shows the requested image in any form.
    var isOfImage: Bool { rank.map { $0 >= .otherSize } ?? false }

    /// The rank, or `nil` for content that ends a binding without an image.
    var rank: BinderStateMachine.ContentRank? {
        switch self {
        case .nothing, .placeholder: .placeholder
        case .cachedPlaceholder: .otherSize
        case .preview: .preview
        case .cachedImage: .stored
        case .image: .image
        case .failurePlaceholder, .fallback: nil
        }
    }
}
