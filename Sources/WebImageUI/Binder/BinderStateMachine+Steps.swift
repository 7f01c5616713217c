// SPDX-License-Identifier: MIT

import WebImage
import WebImageCore

/// The internal steps of the state machine.
extension BinderStateMachine {
    var survives: Bool { options.continuesWhenReplaced || request?.continuesAfterCancellation == true }

    var isAutomatic: Bool { request?.size == nil && options.sizing != .originalSize }

    private var mayLoad: Bool {
        guard request != nil, isMapped || options.offscreenBehavior != .cancel else { return false }
        return !isAutomatic || bounds != nil
    }

    private var priority: RequestPriority {
        let wanted = changedPriority ?? request?.priority ?? .normal
        guard !isMapped, case .lowerPriority(let lower) = options.offscreenBehavior else { return wanted }
        return min(wanted, lower)
    }

    /// Starts a load, or waits until one is allowed.
    mutating func begin() -> [Action] {
        guard mayLoad, var request else {
            phase = image == nil ? .waiting : .ended
            return presentPlaceholder()
        }
        lastLoad += 1
        phase = .probing(lastLoad)
        progress = nil
        if isAutomatic, let bounds {
            requestedBounds = bounds
            request.size = options.sizing.target(for: bounds)
            request.caching.allowsLargerImages = true
        }
        request.priority = priority
        if ignoresFailures { request.caching.bypassesFailureCache = true }
        return [.start(lastLoad, request)]
    }

    mutating func again() -> [Action] {
        failure = nil
        rank = .nothing
        return begin()
    }

    /// Reloads the image if it's too small for the view.
    mutating func refine() -> [Action] {
        guard let image, mayLoad, isAutomatic, let requestedBounds, let bounds,
            options.sizing.outgrows(image, loadedFor: requestedBounds, by: bounds)
        else { return [] }
        return begin()
    }

    mutating func end(_ result: Result<ImageResponse, ImageError>, isInstant: Bool) -> [Action] {
        phase = .ended
        ignoresFailures = false
        switch result {
        case .success(let response):
            let transition = image == nil ? transition(for: response, isInstant: isInstant) : .none
            image = response.image
            return present(.image, .image(response.image), transition, source: response.source) + complete(result)
        case .failure(let error):
            // Only a reload at a larger size failed. Keep the current image.
            guard image == nil else { return [] }
            failure = error
            return presentFailure() + complete(result)
        }
    }

    mutating func leave(_ load: LoadID) -> [Action] {
        switch options.offscreenBehavior {
        case .continue: return []
        case .lowerPriority: return [.setPriority(load, priority)]
        case .cancel:
            phase = image == nil ? .waiting : .ended
            return [.cancel(load, survives: survives)]
        }
    }

    func comeBack(_ load: LoadID) -> [Action] {
        guard case .lowerPriority = options.offscreenBehavior else { return [] }
        return [.setPriority(load, priority)]
    }

    /// Cancels the running load. The caller must set the phase.
    mutating func abandon() -> [Action] {
        guard let load else { return [] }
        return [.cancel(load, survives: survives)]
    }

    /// Starts a new binding without a request.
    mutating func reset() {
        generation += 1
        phase = .idle
        request = nil
        changedPriority = nil
        requestedBounds = nil
        image = nil
        failure = nil
        ignoresFailures = false
        progress = nil
        rank = .nothing
    }

    mutating func complete(_ result: Result<ImageResponse, ImageError>) -> [Action] {
        guard !hasCompleted else { return [] }
        hasCompleted = true
        return [.complete(generation: generation, result)]
    }

    mutating func showEmpty() -> [Action] {
        show(.fallback, options.fallback ?? options.placeholder)
            + complete(.failure(.request(.invalidURL(""))))
    }

    /// Presents the placeholder during a load, unless the binding shows it only after the load.
    mutating func presentPlaceholder() -> [Action] { options.delaysPlaceholder ? [] : placeholder() }

    /// Presents the placeholder after a load that ended without an image, if the binding hasn't shown it before.
    mutating func presentDelayedPlaceholder() -> [Action] { options.delaysPlaceholder ? placeholder() : [] }

    private mutating func placeholder() -> [Action] {
        if case .empty = options.placeholder { return present(.nothing, .empty) }
        return present(.placeholder, options.placeholder)
    }

    private mutating func presentFailure() -> [Action] {
        // A cached image is more useful than a failure placeholder.
        if let content = options.failurePlaceholder { return rank < .stored ? show(.failurePlaceholder, content) : [] }
        // A view that shows nothing would look as if it were still loading.
        if showsMissingImage, options.setsImageAutomatically, endsEmpty {
            return show(.failurePlaceholder, .missingImage)
        }
        return presentDelayedPlaceholder()
    }

    /// A Boolean value that indicates whether the view shows nothing after a load that ended without an image.
    private var endsEmpty: Bool {
        guard options.delaysPlaceholder, rank == .nothing else { return content == nil }
        if case .empty = options.placeholder { return true }
        return false
    }

    /// Presents content if it's better than everything that the binding has presented so far. A preview or an image
    /// also replaces content of the same rank.
    mutating func present(
        _ kind: ImageBinder.Presentation.Kind, _ content: ImagePlaceholder, _ transition: ImageTransition = .none,
        source: ImageResponse.Source? = nil
    ) -> [Action] {
        guard options.setsImageAutomatically || options.onPresentation != nil, let next = kind.rank,
            next > rank || next == rank && next >= .preview
        else { return [] }
        // The view continues to play an animation whose frames arrive, so a transition would show a frame twice.
        var isGrowing = false
        if rank == .preview, case .image(let image) = content, image.isAnimated {
            isGrowing = self.content?.image?.isAnimated == true
        }
        rank = next
        return show(kind, content, isGrowing ? .none : transition, source: source)
    }

    /// Passes content to the view, unless the application sets images itself, and to the handler of the binding.
    private mutating func show(
        _ kind: ImageBinder.Presentation.Kind, _ content: ImagePlaceholder, _ transition: ImageTransition = .none,
        source: ImageResponse.Source? = nil
    ) -> [Action] {
        var image: DecodedImage?
        if case .image(let content) = content, kind.isOfImage { image = content }
        let next = DisplayedContent(kind: kind, image: image, request: request, generation: generation)
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

    func showing(
        _ kind: ImageBinder.Presentation.Kind, _ content: ImagePlaceholder, _ transition: ImageTransition = .none,
        source: ImageResponse.Source? = nil
    ) -> PendingPresentation {
        PendingPresentation(
            kind: kind, content: content, transition: transition, source: source, generation: generation)
    }

    func transition(for response: ImageResponse, isInstant: Bool) -> ImageTransition {
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
    /// A Boolean value that indicates whether the load can succeed after the network returns. A failure from the
    /// negative cache would only be returned again.
    var isNetworkOutage: Bool {
        isUnreachable && rememberedUntil == nil
    }
}
