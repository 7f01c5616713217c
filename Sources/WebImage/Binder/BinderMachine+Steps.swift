// SPDX-License-Identifier: MIT

import WebImageCore

/// The internal steps of the state machine.
extension BinderMachine {
    var survives: Bool { options.survivesOwner || request?.survivesOwner == true }

    var isAutomatic: Bool { request?.size == nil && options.sizing != .none }

    private var mayLoad: Bool {
        guard request != nil, isMapped || options.unmapping != .cancel else { return false }
        return !isAutomatic || box != nil
    }

    private var priority: RequestPriority {
        let wanted = request?.priority ?? .normal
        guard !isMapped, case .lower(let lower) = options.unmapping else { return wanted }
        return min(wanted, lower)
    }

    /// Starts a load, or waits until one is allowed.
    mutating func begin(ignoresFailures: Bool = false) -> [Action] {
        guard mayLoad, var request else {
            phase = picture == nil ? .waiting : .ended
            return presentPlaceholder()
        }
        lastLoad += 1
        phase = .probing(lastLoad)
        progress = nil
        if isAutomatic, let box {
            asked = box
            request.size = options.sizing.target(for: box)
            request.allowsLarger = true
        }
        request.priority = priority
        if ignoresFailures { request.ignoresFailures = true }
        return [.start(lastLoad, request)]
    }

    mutating func again(ignoresFailures: Bool) -> [Action] {
        failure = nil
        rank = .nothing
        return begin(ignoresFailures: ignoresFailures)
    }

    /// Reloads the image if it's too small for the view.
    mutating func refine() -> [Action] {
        guard let picture, mayLoad, isAutomatic, let asked, let box,
            options.sizing.outgrows(picture, loadedFor: asked, by: box)
        else { return [] }
        return begin()
    }

    mutating func end(_ result: Result<ImageResponse, ImageError>, isInstant: Bool) -> [Action] {
        phase = .ended
        switch result {
        case .success(let response):
            let transition = picture == nil ? transition(for: response, isInstant: isInstant) : .none
            picture = response.image
            return present(.picture, .picture(response.image), transition) + complete(result)
        case .failure(let error):
            // Only a reload at a larger size failed. Keep the current image.
            guard picture == nil else { return [] }
            failure = error
            return presentFailure() + complete(result)
        }
    }

    mutating func leave(_ load: LoadID) -> [Action] {
        switch options.unmapping {
        case .keep: return []
        case .lower: return [.setPriority(load, priority)]
        case .cancel:
            phase = picture == nil ? .waiting : .ended
            return [.cancel(load, survives: survives)]
        }
    }

    func comeBack(_ load: LoadID) -> [Action] {
        guard case .lower = options.unmapping else { return [] }
        return [.setPriority(load, priority)]
    }

    /// Cancels the running load. The caller must set the phase.
    mutating func abandon() -> [Action] {
        guard let load else { return [] }
        return [.cancel(load, survives: survives)]
    }

    /// Starts a new binding without a request.
    mutating func forget() {
        generation += 1
        phase = .idle
        request = nil
        asked = nil
        picture = nil
        failure = nil
        progress = nil
        rank = .nothing
    }

    mutating func complete(_ result: Result<ImageResponse, ImageError>) -> [Action] {
        guard !hasCompleted else { return [] }
        hasCompleted = true
        return [.complete(generation: generation, result)]
    }

    mutating func showEmpty() -> [Action] {
        var actions: [Action] = []
        if options.sets == .always {
            let content = options.empty ?? options.placeholder
            shown = (.empty, nil)
            actions.append(.present(showing(.empty, content)))
        }
        return actions + complete(.failure(.request(.invalidURL(""))))
    }

    mutating func presentPlaceholder() -> [Action] {
        if case .empty = options.placeholder { return present(.nothing, .empty) }
        return present(.placeholder, options.placeholder)
    }

    private mutating func presentFailure() -> [Action] {
        // A cached image is more useful than a failure placeholder.
        guard options.sets == .always, rank < .stored, let content = options.failure else { return [] }
        shown = (.failure, nil)
        return [.present(showing(.failure, content))]
    }

    /// Presents content if it's better than everything that the binding has presented so far. A preview or an image
    /// also replaces content of the same rank.
    mutating func present(
        _ kind: Presentation.Kind, _ content: Placeholder, _ transition: Transition = .none
    ) -> [Action] {
        guard options.sets == .always, let next = kind.rank, next > rank || next == rank && next >= .preview else {
            return []
        }
        rank = next
        var image: Image?
        if case .picture(let content) = content, kind.isOfPicture { image = content }
        // The view already shows the same object. Presenting it again would restart an animation.
        let isShown = image != nil && image === shown?.image
        shown = kind == .nothing ? nil : (kind, image)
        return isShown ? [] : [.present(showing(kind, content, transition))]
    }

    func showing(
        _ kind: Presentation.Kind, _ content: Placeholder, _ transition: Transition = .none
    ) -> Showing {
        Showing(kind: kind, content: content, transition: transition, generation: generation)
    }

    func transition(for response: ImageResponse, isInstant: Bool) -> Transition {
        let wasInMemory = isInstant || response.origin == .memory
        return wasInMemory && !options.transition.isForced ? .none : options.transition
    }
}

extension ImageError {
    /// A Boolean value that indicates whether the load can succeed after the network returns.
    var endsWithTheNetwork: Bool {
        isUnreachable
    }
}
