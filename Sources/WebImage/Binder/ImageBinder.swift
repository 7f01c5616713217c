// SPDX-License-Identifier: MIT

import WebImageConcurrency
import WebImageCore
import WebImageStore

/// What lies between a view and the manager, for any toolkit: one per view and slot. It is told what to show and how the
/// view fares (on the screen or not, its size), and tells the view what to show now.
///
/// A picture in memory shows within ``bind(_:options:completion:)`` itself, without placeholder and transition. What a load
/// tells that was superseded never reaches the view. Every binding completes exactly once.
///
/// Handlers may call the binder; what they ask for is done when they have returned. A binder that is released cancels its
/// load and completes its binding.
@MainActor
public final class ImageBinder {
    /// Called once at the end of a binding: with the picture, or with why there is none; with
    /// ``RequestError/cancelled`` when it was bound anew, unbound or released before.
    public typealias Completion = @MainActor (Result<ImageResponse, ImageError>) -> Void

    /// Who loads.
    public let manager: ImageManager
    /// Called after every change of ``snapshot``. Default nil.
    public var onChange: (@MainActor (BinderSnapshot) -> Void)?
    /// How far it is, and what is shown.
    public var snapshot: BinderSnapshot { machine.snapshot }

    private struct Running {
        let task: ImageTask
        let reader: Task<Void, Never>
    }

    private var machine: BinderMachine
    private var actions: [BinderMachine.Action] = []
    private var isPerforming = false
    private var running: [BinderMachine.LoadID: Running] = [:]
    /// Loads that were given up for another one of the same source, by that one's number: they hold the download until
    /// it has joined.
    private var retired: [BinderMachine.LoadID: [ImageTask]] = [:]
    private var completions: [Int: Completion] = [:]
    private var streams: [Int: AsyncStream<BinderSnapshot>.Continuation] = [:]
    private var nextStream = 0
    private var published = BinderSnapshot()
    private let show: @MainActor (Presentation) -> Void

    /// A binder that is bound to nothing.
    ///
    /// - Parameters:
    ///   - manager: who loads. Default ``ImageManager/shared``.
    ///   - isMapped: whether the view is on the screen. Default true.
    ///   - show: shows what it is given, instead of what was shown before. It must not hold the binder.
    public init(
        manager: ImageManager = .shared, isMapped: Bool = true, show: @escaping @MainActor (Presentation) -> Void
    ) {
        self.manager = manager
        self.show = show
        machine = BinderMachine(isMapped: isMapped)
    }

    isolated deinit {
        for load in running.values {
            load.reader.cancel()
            if machine.survives { load.task.priority = .veryLow } else { load.task.cancel() }
        }
        for task in retired.values.joined() { task.cancel() }
        for completion in completions.values { completion(.failure(.request(.cancelled))) }
        for stream in streams.values { stream.finish() }
    }

    // MARK: - Binding

    /// Shows the picture for `request` from now on, and no other one any more. Nil is for a slot without a URL: it shows
    /// ``BindingOptions/empty`` and completes with ``RequestError/invalidURL(_:)``.
    ///
    /// - Returns: the binding's number, as in ``Presentation/generation``.
    @discardableResult
    public func bind(
        _ request: ImageRequest?, options: BindingOptions = BindingOptions(), completion: Completion? = nil
    ) -> Int {
        let begin = machine.bind(request, options)
        let generation = machine.generation
        completions[generation] = completion
        perform(begin)
        return generation
    }

    /// Binds and waits for the end of the binding. Cancelling the calling Swift task unbinds, unless it was bound anew.
    ///
    /// - Throws: why there is no picture.
    public func load(
        _ request: ImageRequest, options: BindingOptions = BindingOptions()
    ) async throws(ImageError) -> ImageResponse {
        let waiter = Promise<Result<ImageResponse, ImageError>>()
        let generation = bind(request, options: options) { waiter.resolve($0) }
        return try await waiter.value { Task { @MainActor [weak self] in self?.unbind(generation) } }
    }

    /// Ends the binding: its load is cancelled, the slot is emptied, and nothing comes any more.
    public func unbind() { perform(machine.unbind()) }

    private func unbind(_ generation: Int) {
        if machine.generation == generation { unbind() }
    }

    // MARK: - How the view fares

    /// Whether the view is on the screen.
    public var isMapped: Bool {
        get { machine.isMapped }
        set { perform(machine.setMapped(newValue)) }
    }

    /// Tells the place that the view has. It stays known for the bindings to come.
    public func allocate(_ allocation: ViewAllocation) { perform(machine.allocate(allocation)) }

    /// Changes how soon the picture is wanted, for the binding that there is.
    public func setPriority(_ priority: RequestPriority) { perform(machine.setPriority(priority)) }

    /// Tries again what failed, also where the manager remembers the failure; does nothing in any other state.
    public func retry() { perform(machine.retry()) }

    /// Tells that the network is back; see ``BindingOptions/retries``.
    public func networkReturned() { perform(machine.networkReturned()) }

    /// ``snapshot`` now and after every change. Each call makes an independent stream, which keeps the newest only for
    /// a reader that is slow, and ends with the binder.
    public var changes: AsyncStream<BinderSnapshot> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            nextStream += 1
            let id = nextStream
            streams[id] = continuation
            continuation.onTermination = { [weak self] _ in
                Task { @MainActor [weak self] in self?.streams[id] = nil }
            }
            continuation.yield(snapshot)
        }
    }

    // MARK: - Actions

    private func perform(_ more: [BinderMachine.Action]) {
        actions += more
        guard !isPerforming else { return }
        isPerforming = true
        while !actions.isEmpty { perform(actions.removeFirst()) }
        isPerforming = false
        publish()
    }

    private func perform(_ action: BinderMachine.Action) {
        switch action {
        case .start(let load, let request): start(load, request)
        case .cancel(let load, let survives):
            cancel(load, survives: survives)
        case .setPriority(let load, let priority): running[load]?.task.priority = priority
        case .present(let showing):
            // A handler that was called meanwhile may have bound anew.
            if showing.generation == machine.generation { show(Presentation(showing)) }
        case .complete(let generation, let result): completions.removeValue(forKey: generation)?(result)
        }
    }

    private func cancel(_ load: BinderMachine.LoadID, survives: Bool) {
        var tasks = retired.removeValue(forKey: load) ?? []
        if let running = running.removeValue(forKey: load) {
            running.reader.cancel()
            if survives { running.task.priority = .veryLow } else { tasks.append(running.task) }
        }
        let heir = machine.load.flatMap { next in running[next].map { (load: next, url: $0.task.request.url) } }
        for task in tasks {
            if let heir, heir.url == task.request.url {
                task.priority = .veryLow
                retired[heir.load, default: []].append(task)
            } else {
                task.cancel()
            }
        }
    }

    private func start(_ load: BinderMachine.LoadID, _ request: ImageRequest) {
        guard machine.load == load else { return }
        let mayRead =
            request.reads.contains(.memory)
            && (request.cachePolicy ?? manager.configuration.cachePolicy) != .reload
        // Kept in memory, where the load finds it.
        if mayRead, machine.options.looksOnDisk { _ = manager.cachedImage(for: request, tiers: .all) }
        let task = manager.load(request)
        if let result = task.result {
            actions += machine.started(load, .answer(result))
            return
        }
        let events = task.events
        let reader = Task { @MainActor [weak self] in
            for await event in events { self?.receive(event, of: load) }
        }
        running[load] = Running(task: task, reader: reader)
        actions += machine.started(
            load,
            .pending(
                stored: mayRead ? manager.cachedImage(for: request) : nil,
                otherSize: mayRead ? manager.cachedPlaceholder(for: request) : nil))
    }

    private func receive(_ event: ImageEvent, of load: BinderMachine.LoadID) {
        if case .finished = event { running[load] = nil }
        if case .started = event {} else { for task in retired.removeValue(forKey: load) ?? [] { task.cancel() } }
        perform(machine.receive(event, of: load))
    }

    private func publish() {
        let snapshot = machine.snapshot
        guard snapshot != published else { return }
        published = snapshot
        for stream in streams.values { stream.yield(snapshot) }
        onChange?(snapshot)
    }
}
