// SPDX-License-Identifier: MIT

import WebImageCore

/// What a view and its loads go through: a pure state machine. Inputs return the actions to perform, in order;
/// ``ImageBinder`` performs them. Every load has a number; what a load tells after another one took its place is not
/// heard, so that a late picture never shows.
struct BinderMachine {
    typealias LoadID = Int

    enum Action {
        /// Looks into memory and starts a load; answered at once by ``started(_:_:)``.
        case start(LoadID, ImageRequest)
        case cancel(LoadID, survives: Bool)
        case setPriority(LoadID, RequestPriority)
        case present(Showing)
        case complete(generation: Int, Result<ImageResponse, ImageError>)
    }

    /// A ``Presentation`` whose hashes are not drawn yet.
    struct Showing {
        let kind: Presentation.Kind
        let content: Placeholder
        let transition: Transition
        let generation: Int
    }

    /// What is known when a load has been started.
    enum Probe {
        /// It is over: memory had the picture.
        case answer(Result<ImageResponse, ImageError>)
        /// It runs; memory has this picture, whatever its age, or one of another size.
        case pending(stored: Image?, otherSize: Image?)
    }

    enum Phase: Equatable {
        case idle
        case waiting
        case probing(LoadID)
        case loading(LoadID)
        case ended
    }

    /// What may take the place of what: nothing less good than what the binding has shown.
    enum Rank: Int, Comparable {
        case nothing, placeholder, otherSize, preview, stored, picture
        static func < (left: Rank, right: Rank) -> Bool { left.rawValue < right.rawValue }
    }

    var generation = 0
    var phase = Phase.idle
    var request: ImageRequest?
    var options = BindingOptions()
    var isMapped: Bool
    var box: PixelBox?
    /// The place that the last load was for.
    var asked: PixelBox?
    var lastLoad = 0
    /// The picture of this binding.
    var picture: Image?
    var failure: ImageError?
    var progress: ImageProgress?
    var hasCompleted = true
    var rank = Rank.nothing
    /// What the view shows, of whichever binding.
    var shown: (kind: Presentation.Kind, image: Image?)?

    init(isMapped: Bool) { self.isMapped = isMapped }

    // MARK: - Inputs

    mutating func bind(_ request: ImageRequest?, _ options: BindingOptions) -> [Action] {
        let ending = complete(.failure(.request(.cancelled)))
        let leaving = abandon()
        forget()
        self.request = request
        self.options = options
        hasCompleted = false
        if options.keepsCurrent, let kind = shown?.kind, kind.isOfPicture { rank = .otherSize }
        guard request != nil else { return ending + leaving + showEmpty() }
        // The new load comes first: where it wants the same bytes, their download goes on.
        return ending + begin() + leaving
    }

    mutating func unbind() -> [Action] {
        let actions = complete(.failure(.request(.cancelled))) + abandon()
        forget()
        guard options.sets == .always, shown != nil else { return actions }
        shown = nil
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
            return failure != nil && options.retries.contains(.whenMapped) ? again(ignoresFailures: false) : refine()
        case .probing(let load), .loading(let load): return mapped ? comeBack(load) : leave(load)
        }
    }

    mutating func allocate(_ allocation: ViewAllocation) -> [Action] {
        guard let box = PixelBox(allocation), box != self.box else { return [] }
        self.box = box
        switch phase {
        case .idle: return []
        case .waiting: return begin()
        case .ended: return refine()
        case .probing, .loading:
            guard isAutomatic, let asked, options.sizing.outgrows(asked, by: box) else { return [] }
            let leaving = abandon()
            return begin() + leaving
        }
    }

    mutating func setPriority(_ priority: RequestPriority) -> [Action] {
        request?.priority = priority
        guard let load, isMapped || options.unmapping == .keep else { return [] }
        return [.setPriority(load, priority)]
    }

    mutating func retry() -> [Action] {
        guard phase == .ended, failure != nil else { return [] }
        return again(ignoresFailures: true)
    }

    mutating func networkReturned() -> [Action] {
        guard options.retries.contains(.whenNetworkReturns), let failure, failure.endsWithTheNetwork else { return [] }
        return retry()
    }

    mutating func started(_ load: LoadID, _ probe: Probe) -> [Action] {
        guard phase == .probing(load) else { return [] }
        phase = .loading(load)
        switch probe {
        case .answer(let result): return end(result, isInstant: true)
        case .pending(let stored, let otherSize):
            if let stored { return present(.stored, .picture(stored)) }
            if let otherSize, options.showsOtherSizes { return present(.otherSize, .picture(otherSize)) }
            return presentPlaceholder()
        }
    }

    mutating func receive(_ event: ImageEvent, of load: LoadID) -> [Action] {
        guard phase == .loading(load) else { return [] }
        switch event {
        case .started, .waiting: return []
        case .progress(let progress):
            self.progress = progress
            return []
        case .cached(let response):
            return present(.stored, .picture(response.image), transition(for: response, isInstant: false))
        case .preview(let image): return present(.preview, .picture(image), options.previewTransition)
        case .finished(let result): return end(result, isInstant: false)
        }
    }

    // MARK: - What can be seen

    var load: LoadID? {
        switch phase {
        case .probing(let load), .loading(let load): load
        case .idle, .waiting, .ended: nil
        }
    }

    var snapshot: BinderSnapshot {
        BinderSnapshot(state: state, progress: progress, shown: shown?.kind, generation: generation)
    }

    private var state: BinderState {
        if picture != nil { return .showing }
        switch phase {
        case .idle: return .idle
        case .waiting: return .waiting
        case .probing, .loading: return rank >= .preview ? .previewing : .loading
        case .ended: return failure.map { .failed($0) } ?? .showing
        }
    }
}

extension Presentation.Kind {
    /// Whether it is of what was asked for, in whatever state.
    var isOfPicture: Bool { rank.map { $0 >= .otherSize } ?? false }

    /// Nil for what ends a binding without a picture.
    var rank: BinderMachine.Rank? {
        switch self {
        case .nothing, .placeholder: .placeholder
        case .otherSize: .otherSize
        case .preview: .preview
        case .stored: .stored
        case .picture: .picture
        case .failure, .empty: nil
        }
    }
}
