// SPDX-License-Identifier: MIT

import WebImageCore

/// The steps between two inputs.
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

    /// Starts a load, or waits until there may be one.
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

    /// Loads anew where the picture has become too small.
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
            // A larger one was wanted; what is shown stays.
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

    /// Gives up the load that runs; the phase is the caller's to set.
    mutating func abandon() -> [Action] {
        guard let load else { return [] }
        return [.cancel(load, survives: survives)]
    }

    /// Begins the next binding, of nothing.
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
        // A stored picture is worth more than news of what could not be done.
        guard options.sets == .always, rank < .stored, let content = options.failure else { return [] }
        shown = (.failure, nil)
        return [.present(showing(.failure, content))]
    }

    /// Shows what is better than what the binding has shown; of previews and pictures also what is as good.
    mutating func present(
        _ kind: Presentation.Kind, _ content: Placeholder, _ transition: Transition = .none
    ) -> [Action] {
        guard options.sets == .always, let next = kind.rank, next > rank || next == rank && next >= .preview else {
            return []
        }
        rank = next
        var image: Image?
        if case .picture(let content) = content, kind.isOfPicture { image = content }
        // The same object: it is on the screen already, and an animation is not to begin anew.
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
    /// Whether the network's return may cure it.
    var endsWithTheNetwork: Bool {
        isUnreachable
    }
}
