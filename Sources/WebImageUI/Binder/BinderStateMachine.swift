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

    /// The state that ends with a binding.
    struct Binding {
        fileprivate(set) var phase = Phase.idle
        fileprivate(set) var request: ImageRequest?
        /// The priority of the binding, if it differs from the priority of the request.
        fileprivate var changedPriority: RequestPriority?
        /// The bounds for which the last load was started.
        fileprivate var requestedBounds: TargetBounds?
        /// The final image.
        fileprivate var image: DecodedImage?
        fileprivate var failure: ImageError?
        /// Whether the next loads bypass the negative cache, until one of them ends.
        fileprivate var ignoresFailures = false
        fileprivate var progress: ImageTask.Progress?
        fileprivate var hasCompleted = true
        fileprivate var rank = ContentRank.nothing
    }

    private(set) var generation = 0
    private(set) var binding = Binding()
    private(set) var options = ImageViewOptions()
    private(set) var isMapped: Bool
    private var bounds: TargetBounds?
    private(set) var lastLoad = 0
    /// The content of the view, which can be from an earlier binding.
    private(set) var content: DisplayedContent?
    /// The content that the handler received most recently, which can be from an earlier binding.
    private var handedOver: DisplayedContent?

    /// Whether an empty view shows an icon after a failure.
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
        binding.request = request
        self.options = options
        binding.hasCompleted = false
        if options.onPresentation == nil { handedOver = nil }
        let current = options.setsImageAutomatically ? content : handedOver
        if options.keepsCurrentImage, current?.kind.isOfImage == true { binding.rank = .otherSize }
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
        switch binding.phase {
        case .idle, .ended, .cancelled: return []
        case .waiting, .probing, .loading: break
        }
        let leaving = abandon()
        binding.phase = .cancelled
        binding.progress = nil
        binding.ignoresFailures = false
        return presentDelayedPlaceholder() + complete(.failure(.cancelled)) + leaving
    }

    mutating func setMapped(_ mapped: Bool) -> [Action] {
        guard mapped != isMapped else { return [] }
        isMapped = mapped
        switch binding.phase {
        case .idle, .cancelled: return []
        case .waiting: return mapped ? begin() : []
        case .ended:
            guard mapped else { return [] }
            return binding.failure != nil && options.retriesWhenVisible ? again() : refine()
        case .probing(let load), .loading(let load): return mapped ? comeBack(load) : leave(load)
        }
    }

    mutating func allocate(_ allocation: ViewAllocation) -> [Action] {
        guard let bounds = TargetBounds(allocation), bounds != self.bounds else { return [] }
        self.bounds = bounds
        switch binding.phase {
        case .idle, .cancelled: return []
        case .waiting: return begin()
        case .ended: return refine()
        case .probing, .loading:
            guard isAutomatic, let requestedBounds = binding.requestedBounds,
                options.sizing.outgrows(requestedBounds, by: bounds)
            else {
                return []
            }
            let leaving = abandon()
            return begin() + leaving
        }
    }

    mutating func setPriority(_ priority: RequestPriority) -> [Action] {
        binding.changedPriority = priority
        guard let load, isMapped || options.offscreenBehavior == .continue else { return [] }
        return [.setPriority(load, priority)]
    }

    mutating func retry() -> [Action] {
        // The content of a canceled load remains until better content is available.
        if binding.phase == .cancelled {
            binding.ignoresFailures = true
            return begin()
        }
        guard binding.phase == .ended, binding.failure != nil else { return [] }
        binding.ignoresFailures = true
        return again()
    }

    mutating func networkReturned() -> [Action] {
        guard options.retriesWhenNetworkReturns, let failure = binding.failure, failure.isNetworkOutage else {
            return []
        }
        return retry()
    }

    mutating func started(_ load: LoadID, _ probe: StartResult) -> [Action] {
        guard binding.phase == .probing(load) else { return [] }
        binding.phase = .loading(load)
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
        guard binding.phase == .loading(load) else { return [] }
        switch event {
        case .started, .waiting: return []
        case .progress(let progress):
            binding.progress = progress
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
        switch binding.phase {
        case .probing(let load), .loading(let load): load
        case .idle, .waiting, .ended, .cancelled: nil
        }
    }

    var snapshot: ImageBinder.Snapshot {
        ImageBinder.Snapshot(
            state: state, progress: binding.progress, content: content?.kind, request: binding.request,
            displayedRequest: content?.kind.isOfImage == true ? content?.request : nil, generation: generation)
    }

    private var state: ImageBinder.State {
        if binding.image != nil { return .showing }
        switch binding.phase {
        case .idle: return .idle
        case .waiting: return .waiting
        case .probing, .loading: return binding.rank >= .preview ? .previewing : .loading
        case .ended: return binding.failure.map { .failed($0) } ?? .showing
        case .cancelled: return .cancelled
        }
    }
}

extension ImageBinder.Presentation.Kind {
    /// Whether the content shows the requested image in any form.
    var isOfImage: Bool { rank.map { $0 >= .otherSize } ?? false }

    /// The rank, or `nil` for content that ends a binding without an image.
    fileprivate var rank: BinderStateMachine.ContentRank? {
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

/// The internal steps of the state machine.
extension BinderStateMachine {
    var survives: Bool { options.continuesWhenReplaced || binding.request?.continuesAfterCancellation == true }

    private var isAutomatic: Bool { binding.request?.size == nil && options.sizing != .originalSize }

    private var mayLoad: Bool {
        guard binding.request != nil, isMapped || options.offscreenBehavior != .cancel else { return false }
        return !isAutomatic || bounds != nil
    }

    private var priority: RequestPriority {
        let wanted = binding.changedPriority ?? binding.request?.priority ?? .normal
        guard !isMapped, case .lowerPriority(let lower) = options.offscreenBehavior else { return wanted }
        return min(wanted, lower)
    }

    /// Starts a load, or waits until one is allowed.
    private mutating func begin() -> [Action] {
        guard mayLoad, var request = binding.request else {
            binding.phase = binding.image == nil ? .waiting : .ended
            return presentPlaceholder()
        }
        lastLoad += 1
        binding.phase = .probing(lastLoad)
        binding.progress = nil
        if isAutomatic, let bounds {
            binding.requestedBounds = bounds
            request.size = options.sizing.target(for: bounds)
            request.caching.allowsLargerImages = true
        }
        request.priority = priority
        if binding.ignoresFailures { request.caching.bypassesFailureCache = true }
        return [.start(lastLoad, request)]
    }

    private mutating func again() -> [Action] {
        binding.failure = nil
        binding.rank = .nothing
        return begin()
    }

    /// Reloads the image if it's too small for the view.
    private mutating func refine() -> [Action] {
        guard let image = binding.image, mayLoad, isAutomatic, let requestedBounds = binding.requestedBounds,
            let bounds,
            options.sizing.outgrows(image, loadedFor: requestedBounds, by: bounds)
        else { return [] }
        return begin()
    }

    private mutating func end(_ result: Result<ImageResponse, ImageError>, isInstant: Bool) -> [Action] {
        binding.phase = .ended
        binding.ignoresFailures = false
        switch result {
        case .success(let response):
            let transition = binding.image == nil ? transition(for: response, isInstant: isInstant) : .none
            binding.image = response.image
            return present(.image, .image(response.image), transition, source: response.source) + complete(result)
        case .failure(let error):
            // Only a reload at a larger size failed. Keep the current image.
            guard binding.image == nil else { return [] }
            binding.failure = error
            return presentFailure() + complete(result)
        }
    }

    private mutating func leave(_ load: LoadID) -> [Action] {
        switch options.offscreenBehavior {
        case .continue: return []
        case .lowerPriority: return [.setPriority(load, priority)]
        case .cancel:
            binding.phase = binding.image == nil ? .waiting : .ended
            return [.cancel(load, survives: survives)]
        }
    }

    private func comeBack(_ load: LoadID) -> [Action] {
        guard case .lowerPriority = options.offscreenBehavior else { return [] }
        return [.setPriority(load, priority)]
    }

    /// Cancels the running load. The caller must set the phase.
    private mutating func abandon() -> [Action] {
        guard let load else { return [] }
        return [.cancel(load, survives: survives)]
    }

    /// Starts a new binding without a request.
    private mutating func reset() {
        generation += 1
        binding = Binding()
    }

    private mutating func complete(_ result: Result<ImageResponse, ImageError>) -> [Action] {
        guard !binding.hasCompleted else { return [] }
        binding.hasCompleted = true
        return [.complete(generation: generation, result)]
    }

    private mutating func showEmpty() -> [Action] {
        show(.fallback, options.fallback ?? options.placeholder)
            + complete(.failure(.request(.invalidURL(""))))
    }

    /// Presents the placeholder during a load, unless the binding shows it only after the load.
    private mutating func presentPlaceholder() -> [Action] { options.delaysPlaceholder ? [] : placeholder() }

    /// Presents the placeholder after a load that ended without an image, if the binding hasn't shown it before.
    private mutating func presentDelayedPlaceholder() -> [Action] { options.delaysPlaceholder ? placeholder() : [] }

    private mutating func placeholder() -> [Action] {
        if case .empty = options.placeholder { return present(.nothing, .empty) }
        return present(.placeholder, options.placeholder)
    }

    private mutating func presentFailure() -> [Action] {
        // A cached image is more useful than a failure placeholder.
        if let content = options.failurePlaceholder {
            return binding.rank < .stored ? show(.failurePlaceholder, content) : []
        }
        // A view that shows nothing would look as if it were still loading.
        if showsMissingImage, options.setsImageAutomatically, endsEmpty {
            return show(.failurePlaceholder, .missingImage)
        }
        return presentDelayedPlaceholder()
    }

    /// Whether the view shows nothing after a load that ended without an image.
    private var endsEmpty: Bool {
        guard options.delaysPlaceholder, binding.rank == .nothing else { return content == nil }
        if case .empty = options.placeholder { return true }
        return false
    }

    /// Presents content if it's better than everything that the binding has presented so far. A preview or an image
    /// also replaces content of the same rank.
    private mutating func present(
        _ kind: ImageBinder.Presentation.Kind, _ content: ImagePlaceholder, _ transition: ImageTransition = .none,
        source: ImageResponse.Source? = nil
    ) -> [Action] {
        guard options.setsImageAutomatically || options.onPresentation != nil, let next = kind.rank,
            next > binding.rank || next == binding.rank && next >= .preview
        else { return [] }
        // The view continues to play an animation whose frames arrive, so a transition would show a frame twice.
        var isGrowing = false
        if binding.rank == .preview, case .image(let image) = content, image.isAnimated {
            isGrowing = self.content?.image?.isAnimated == true
        }
        binding.rank = next
        return show(kind, content, isGrowing ? .none : transition, source: source)
    }

    /// Passes content to the view, unless the application sets images itself, and to the handler of the binding.
    private mutating func show(
        _ kind: ImageBinder.Presentation.Kind, _ content: ImagePlaceholder, _ transition: ImageTransition = .none,
        source: ImageResponse.Source? = nil
    ) -> [Action] {
        var image: DecodedImage?
        if case .image(let content) = content, kind.isOfImage { image = content }
        let next = DisplayedContent(kind: kind, image: image, request: binding.request, generation: generation)
        let presentation = showing(kind, content, transition, source: source)
        var actions: [Action] = []
        if options.setsImageAutomatically {
            // If the view already shows the same object, presenting it again would restart an animation.
            let isShown = image != nil && image === self.content?.image
            self.content = kind == .nothing ? nil : next
            if !isShown { actions.append(.present(presentation)) }
        }
        if let handler = options.onPresentation, !next.repeats(handedOver) {
            handedOver = kind == .nothing ? nil : next
            actions.append(.handOver(presentation, to: handler))
        }
        return actions
    }

    private func showing(
        _ kind: ImageBinder.Presentation.Kind, _ content: ImagePlaceholder, _ transition: ImageTransition = .none,
        source: ImageResponse.Source? = nil
    ) -> PendingPresentation {
        PendingPresentation(
            kind: kind, content: content, transition: transition, source: source, generation: generation)
    }

    private func transition(for response: ImageResponse, isInstant: Bool) -> ImageTransition {
        let wasInMemory = isInstant || response.source == .memoryCache
        return wasInMemory && !options.transition.appliesToMemoryHits ? .none : options.transition
    }
}

extension BinderStateMachine.DisplayedContent {
    /// Returns whether `other` is the same image as the same kind of content of the same binding.
    fileprivate func repeats(_ other: Self?) -> Bool {
        guard let image, let other else { return false }
        return image === other.image && kind == other.kind && generation == other.generation
    }
}

extension ImageError {
    /// Whether the load can succeed after the network returns. A failure from the negative cache would only be returned
    /// again.
    var isNetworkOutage: Bool {
        isUnreachable && rememberedUntil == nil
    }
}
