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
        /// Passes content to the ``ImageViewOptions/onPresentation`` handler of its binding.
        case handOver(PendingPresentation, to: ImageViewOptions.PresentationHandler)
        case complete(generation: Int, Result<ImageResponse, ImageError>)
    }

    /// An ``ImageBinder/Presentation`` whose BlurHash or ThumbHash hasn't been rendered yet.
    struct PendingPresentation {
        let kind: ImageBinder.Presentation.Kind
        let content: ImagePlaceholder
        let transition: ImageTransition
        let source: ImageResponse.Source?
        let generation: Int
    }

    /// The content that a view displays, or that a handler received most recently.
    struct DisplayedContent {
        let kind: ImageBinder.Presentation.Kind
        /// The image, if the content shows a requested image in any form.
        let image: DecodedImage?
        /// The request of the binding that displayed the content.
        let request: ImageRequest?
        let generation: Int
    }

    /// The result of starting a load.
    enum StartResult {
        /// The load is finished because the image was in memory.
        case result(Result<ImageResponse, ImageError>)
        /// The load is running. Memory may contain the image, regardless of its age, the image in another size, or the
        /// image of a preliminary request.
        case pending(stored: DecodedImage?, otherSize: DecodedImage?, preliminary: DecodedImage? = nil)
    }

    enum Phase: Equatable {
        case idle
        case waiting
        case probing(LoadID)
        case loading(LoadID)
        case ended
        /// The load was canceled by ``cancel()``, and only ``retry()`` restarts it.
        case cancelled
    }

    /// The rank of displayed content. Content never replaces content of a higher rank in the same binding.
    enum ContentRank: Int, Comparable {
        case nothing, placeholder, otherSize, preview, stored, image
        static func < (left: ContentRank, right: ContentRank) -> Bool { left.rawValue < right.rawValue }
    }

    var generation = 0
    var phase = Phase.idle
    var request: ImageRequest?
    /// The priority of the binding, if it differs from the priority of the request.
    var changedPriority: RequestPriority?
    var options = ImageViewOptions()
    var isMapped: Bool
    var bounds: TargetBounds?
    /// The bounds for which the last load was started.
    var requestedBounds: TargetBounds?
    var lastLoad = 0
    /// The final image of this binding.
    var image: DecodedImage?
    var failure: ImageError?
    /// A Boolean value that indicates whether the next loads bypass the negative cache, until one of them ends.
    var ignoresFailures = false
    var progress: ImageTask.Progress?
    var hasCompleted = true
    var rank = ContentRank.nothing
    /// The content of the view, which can be from an earlier binding.
    var content: DisplayedContent?
    /// The content that the handler received most recently, which can be from an earlier binding.
    var handedOver: DisplayedContent?

    /// A Boolean value that indicates whether an empty view shows an icon after a failure.
    let showsMissingImage: Bool

    init(isMapped: Bool, showsMissingImage: Bool = true) {
        self.isMapped = isMapped
        self.showsMissingImage = showsMissingImage
    }

    // MARK: - Inputs

    mutating func bind(_ request: ImageRequest?, _ options: ImageViewOptions) -> [Action] {
        let ending = complete(.failure(.cancelled))
        let leaving = abandon()
        reset()
        self.request = request
        self.options = options
        hasCompleted = false
        if options.onPresentation == nil { handedOver = nil }
        let current = options.setsImageAutomatically ? content : handedOver
        if options.keepsCurrentImage, current?.kind.isOfImage == true { rank = .otherSize }
        guard request != nil else { return ending + leaving + showEmpty() }
        // Start the new load first so that a shared download continues.
        return ending + begin() + leaving
    }

    mutating func unbind() -> [Action] {
        let ending = complete(.failure(.cancelled)) + abandon()
        reset()
        // The completion is the last event of a binding, so the handler is called before it.
        var actions: [Action] = []
        if let handler = options.onPresentation, handedOver != nil {
            actions.append(.handOver(showing(.nothing, .empty), to: handler))
        }
        options.onPresentation = nil
        handedOver = nil
        actions += ending
        guard content != nil else { return actions }
        content = nil
        return actions + [.present(showing(.nothing, .empty))]
    }

    /// Cancels the load and keeps the content.
    mutating func cancel() -> [Action] {
        switch phase {
        case .idle, .ended, .cancelled: return []
        case .waiting, .probing, .loading: break
        }
        let leaving = abandon()
        phase = .cancelled
        progress = nil
        ignoresFailures = false
        return presentDelayedPlaceholder() + complete(.failure(.cancelled)) + leaving
    }

    mutating func setMapped(_ mapped: Bool) -> [Action] {
        guard mapped != isMapped else { return [] }
        isMapped = mapped
        switch phase {
        case .idle, .cancelled: return []
        case .waiting: return mapped ? begin() : []
        case .ended:
            guard mapped else { return [] }
            return failure != nil && options.retriesWhenVisible ? again() : refine()
        case .probing(let load), .loading(let load): return mapped ? comeBack(load) : leave(load)
        }
    }

    mutating func allocate(_ allocation: ViewAllocation) -> [Action] {
        guard let bounds = TargetBounds(allocation), bounds != self.bounds else { return [] }
        self.bounds = bounds
        switch phase {
        case .idle, .cancelled: return []
        case .waiting: return begin()
        case .ended: return refine()
        case .probing, .loading:
            guard isAutomatic, let requestedBounds, options.sizing.outgrows(requestedBounds, by: bounds) else {
                return []
            }
            let leaving = abandon()
            return begin() + leaving
        }
    }

    mutating func setPriority(_ priority: RequestPriority) -> [Action] {
        changedPriority = priority
        guard let load, isMapped || options.offscreenBehavior == .continue else { return [] }
        return [.setPriority(load, priority)]
    }

    mutating func retry() -> [Action] {
        // The content of a canceled load remains until better content is available.
        if phase == .cancelled {
            ignoresFailures = true
            return begin()
        }
        guard phase == .ended, failure != nil else { return [] }
        ignoresFailures = true
        return again()
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
        case .pending(let stored, let otherSize, let preliminary):
            if let stored { return present(.cachedImage, .image(stored), source: .memoryCache) }
            if let preliminary { return present(.preview, .image(preliminary)) }
            if let otherSize, options.usesCachedPlaceholder {
                return present(.cachedPlaceholder, .image(otherSize), source: .memoryCache)
            }
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
            let transition = transition(for: response, isInstant: false)
            return present(.cachedImage, .image(response.image), transition, source: response.source)
        case .preview(let image): return present(.preview, .image(image), options.previewTransition)
        case .finished(let result): return end(result, isInstant: false)
        }
    }

    // MARK: - State

    var load: LoadID? {
        switch phase {
        case .probing(let load), .loading(let load): load
        case .idle, .waiting, .ended, .cancelled: nil
        }
    }

    var snapshot: ImageBinder.Snapshot {
        ImageBinder.Snapshot(
            state: state, progress: progress, content: content?.kind, request: request,
            displayedRequest: content?.kind.isOfImage == true ? content?.request : nil, generation: generation)
    }

    private var state: ImageBinder.State {
        if image != nil { return .showing }
        switch phase {
        case .idle: return .idle
        case .waiting: return .waiting
        case .probing, .loading: return rank >= .preview ? .previewing : .loading
        case .ended: return failure.map { .failed($0) } ?? .showing
        case .cancelled: return .cancelled
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
