// SPDX-License-Identifier: MIT

import WebImageCore

/// The state of a view and its loads, as a pure state machine.
///
/// Inputs return the actions to perform, in order, and ``ImageBinder`` performs them. Every load has a number. Events
/// of a superseded load are ignored, so a late image never appears.
struct BinderMachine {
    typealias LoadID = Int

    enum Action {
        /// Looks up the image in memory and starts a load. The binder immediately responds with ``started(_:_:)``.
        case start(LoadID, ImageRequest)
        case cancel(LoadID, survives: Bool)
        case setPriority(LoadID, RequestPriority)
        case present(Showing)
        case complete(generation: Int, Result<ImageResponse, ImageError>)
    }

    /// A ``Presentation`` whose BlurHash or ThumbHash hasn't been rendered yet.
    struct Showing {
        let kind: Presentation.Kind
        let content: Placeholder
        let transition: Transition
        let generation: Int
    }

    /// The result of starting a load.
    enum Probe {
        /// The load is finished because the image was in memory.
        case answer(Result<ImageResponse, ImageError>)
        /// The load is running. Memory may contain the image, regardless of its age, or the image in another size.
        case pending(stored: Image?, otherSize: Image?)
    }

    enum Phase: Equatable {
        case idle
        case waiting
        case probing(LoadID)
        case loading(LoadID)
        case ended
    }

    /// The rank of displayed content. Content never replaces content of a higher rank in the same binding.
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
    /// The bounds for which the last load was started.
    var asked: PixelBox?
    var lastLoad = 0
    /// The final image of this binding.
    var picture: Image?
    var failure: ImageError?
    var progress: ImageProgress?
    var hasCompleted = true
    var rank = Rank.nothing
    /// The content of the view, which can be from an earlier binding.
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
        // Start the new load first so that a shared download continues.
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

    // MARK: - State

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
    /// A Boolean value that indicates whether the content shows the requested image in any form.
    var isOfPicture: Bool { rank.map { $0 >= .otherSize } ?? false }

    /// The rank, or `nil` for content that ends a binding without an image.
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
