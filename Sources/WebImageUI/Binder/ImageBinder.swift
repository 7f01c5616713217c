// SPDX-License-Identifier: MIT

import Foundation
import WebImage
import WebImageConcurrency
import WebImageCore
import WebImageStore

/// The connection between a view of any toolkit and the manager. Each view needs one binder per slot.
///
/// The view reports its request and its state (whether it's on screen, and its bounds), and the binder calls a closure
/// with the content to display. If the image is in memory, it's displayed before ``bind(_:options:completion:)``
/// returns, without a placeholder or a transition. Events of a superseded load never reach the view. Every binding
/// completes exactly once.
///
/// Handlers can call the binder. It performs their calls after they return. When a binder is deallocated, it cancels
/// its load and completes its binding.
@MainActor
public final class ImageBinder {
    /// A closure that is called once at the end of a binding.
    ///
    /// It receives the response or the error. The error is ``ImageError/cancelled`` if the binder was
    /// bound again, unbound, canceled, or deallocated before.
    package typealias Completion = @MainActor (Result<ImageResponse, ImageError>) -> Void

    /// The manager that loads the images of bindings without their own ``ImageViewOptions/manager``.
    public let manager: ImageManager
    /// A closure that is called after every change of ``snapshot``. The default is `nil`.
    package var onChange: (@MainActor (ImageBinder.Snapshot) -> Void)?
    /// A progress object of the application that the binder updates, for example the child of another progress object.
    ///
    /// You can set it before the first binding and replace it at any time, and it remains across bindings. When a load
    /// starts, 0 of 1 units are completed, and during a download, the units are bytes. If the server doesn't report the
    /// size, 0 of 1 units remain completed until the end. When the image is available, all units are completed, also for
    /// images from a cache. After a failure or a cancellation, the counts remain. The total is never less than 1, because
    /// Foundation on Linux traps if the total of a child isn't positive.
    ///
    /// The binder changes the object on the main actor, immediately before the closures that observe ``snapshot`` are
    /// called. It doesn't observe the object, so canceling the object doesn't cancel the load. The default is `nil`.
    public var progress: Progress? {
        didSet { if progress !== oldValue { updateProgress() } }
    }
    /// The state of the binder and its current content.
    public var snapshot: ImageBinder.Snapshot { machine.snapshot }
    /// The image that the view displays as a preview, as a cached image, or in its final form, or `nil` if the view
    /// displays no image or a placeholder. It's the image of ``Snapshot/displayedRequest``.
    public var displayedImage: DecodedImage? { machine.content?.image }

    private struct Running {
        let task: ImageTask
        let reader: Task<Void, Never>
    }

    private var machine: BinderStateMachine
    private var actions: [BinderStateMachine.Action] = []
    private var isPerforming = false
    private var running: [BinderStateMachine.LoadID: Running] = [:]
    /// Canceled loads that were replaced by a load of the same source, by the number of the new load. Each keeps the
    /// download running until the new load has joined it.
    private var retired: [BinderStateMachine.LoadID: ImageTask] = [:]
    private var completions: [Int: Completion] = [:]
    private var streams: [Int: AsyncStream<ImageBinder.Snapshot>.Continuation] = [:]
    private var nextStream = 0
    private var published = ImageBinder.Snapshot()
    private let show: @MainActor (ImageBinder.Presentation) -> Void

    /// Creates a binder of a visible view that isn't bound.
    ///
    /// - Parameters:
    ///   - manager: The manager that loads the images. The default is ``ImageManager/shared``.
    ///   - present: A closure that displays content instead of the previous content. It must not capture the binder
    ///     strongly.
    public convenience init(
        manager: ImageManager = .shared, present: @escaping @MainActor (ImageBinder.Presentation) -> Void
    ) {
        self.init(manager: manager, isVisible: true, showsMissingImage: true, present: present)
    }

    /// Creates a binder that isn't bound. `isVisible` indicates whether the view is on screen, and `showsMissingImage` whether
    /// an empty view shows ``ImagePlaceholder/missingImage`` after a failure.
    package init(
        manager: ImageManager, isVisible: Bool, showsMissingImage: Bool,
        present: @escaping @MainActor (ImageBinder.Presentation) -> Void
    ) {
        self.manager = manager
        self.show = present
        machine = BinderStateMachine(isMapped: isVisible, showsMissingImage: showsMissingImage)
    }

    isolated deinit {
        for load in running.values {
            load.reader.cancel()
            if machine.survives { load.task.priority = .veryLow } else { load.task.cancel() }
        }
        for task in retired.values { task.cancel() }
        for completion in completions.values { completion(.failure(.cancelled)) }
        for stream in streams.values { stream.finish() }
    }

    // MARK: - Binding

    /// Binds the view to the image for a request, which replaces the previous binding.
    ///
    /// If the request is `nil` because the slot has no URL, the view shows ``ImageViewOptions/fallback``, and the
    /// binding completes with ``ImageError/RequestFailure/invalidURL(_:)``.
    ///
    /// - Parameters:
    ///   - request: The request to load.
    ///   - options: The options for displaying the image.
    ///   - completion: A closure that is called once at the end of the binding, with the response or the error. The
    ///     error is ``ImageError/cancelled`` if the binder was bound again, unbound, canceled, or deallocated before.
    ///     This also applies if the load continues because of ``ImageViewOptions/continuesWhenReplaced``.
    /// - Returns: The number of the binding, which is also its ``ImageBinder/Presentation/bindingID``.
    @discardableResult
    public func bind(
        _ request: ImageRequest?, options: ImageViewOptions = ImageViewOptions(),
        completion: (@MainActor (Result<ImageResponse, ImageError>) -> Void)? = nil
    ) -> Int {
        let begin = machine.bind(request, options)
        let generation = machine.generation
        completions[generation] = completion
        perform(begin)
        return generation
    }

    /// Binds the view to a request and waits for the end of the binding.
    ///
    /// Canceling the calling Swift task unbinds the view, unless it has been bound again.
    ///
    /// - Parameters:
    ///   - request: The request to load.
    ///   - options: The options for displaying the image.
    /// - Returns: The response to the request.
    /// - Throws: An ``ImageError`` if the image can't be loaded or the binding ended early.
    public func load(
        _ request: ImageRequest, options: ImageViewOptions = ImageViewOptions()
    ) async throws(ImageError) -> ImageResponse {
        let waiter = Promise<Result<ImageResponse, ImageError>>()
        let generation = bind(request, options: options) { waiter.resolve($0) }
        return try await waiter.value { Task { @MainActor [weak self] in self?.unbind(generation) } }
    }

    /// Cancels the load and keeps the content of the view, except that a placeholder that
    /// ``ImageViewOptions/delaysPlaceholder`` delays appears.
    ///
    /// The binding completes with ``ImageError/cancelled``, and the view remains bound to its request. Neither a change
    /// of the visibility nor of the size restarts the load, but ``retry()`` does. If a load is neither running nor
    /// waiting, for example because it has failed, this method has no effect. To clear the view, call ``unbind()``.
    public func cancel() { perform(machine.cancel()) }

    /// Ends the binding. This method cancels the load, clears the slot, and stops all updates.
    public func unbind() { perform(machine.unbind()) }

    private func unbind(_ generation: Int) {
        if machine.generation == generation { unbind() }
    }

    // MARK: - State of the view

    /// A Boolean value that indicates whether the view is on screen.
    public var isVisible: Bool {
        get { machine.isMapped }
        set { perform(machine.setMapped(newValue)) }
    }

    /// Sets the size of the view. It also applies to later bindings.
    ///
    /// - Parameters:
    ///   - width: The width in points, or 0 if the image determines the width.
    ///   - height: The height in points, or 0 if the image determines the height.
    ///   - scale: The number of device pixels per point.
    public func setViewSize(width: Double, height: Double, scale: Double) {
        allocate(ViewAllocation(width: width, height: height, scaleFactor: scale))
    }

    /// Sets the bounds of the view. They also apply to later bindings.
    package func allocate(_ allocation: ViewAllocation) { perform(machine.allocate(allocation)) }

    /// Changes the priority of the current binding.
    public func setPriority(_ priority: RequestPriority) { perform(machine.setPriority(priority)) }

    /// Retries a failed load even if the manager remembers the failure, and restarts a load after ``cancel()``. In other
    /// states, this method has no effect. If the view is off screen or has no size, the load starts as soon as it may.
    public func retry() { perform(machine.retry()) }

    /// Notifies the binder that the network is available again. See
    /// ``ImageViewOptions/retriesWhenNetworkReturns``.
    public func networkBecameAvailable() { perform(machine.networkReturned()) }

    /// The current ``snapshot`` and the snapshot after every change. Each call creates an independent stream. A slow
    /// subscriber receives only the most recent snapshot. The stream ends with the binder.
    public var snapshots: AsyncStream<ImageBinder.Snapshot> {
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

    private func perform(_ more: [BinderStateMachine.Action]) {
        actions += more
        guard !isPerforming else { return }
        isPerforming = true
        while !actions.isEmpty { perform(actions.removeFirst()) }
        isPerforming = false
        publish()
    }

    private func perform(_ action: BinderStateMachine.Action) {
        switch action {
        case .start(let load, let request): start(load, request)
        case .cancel(let load, let survives):
            cancel(load, survives: survives)
        case .setPriority(let load, let priority): running[load]?.task.priority = priority
        case .present(let showing):
            if isCurrent(showing) { show(ImageBinder.Presentation(showing)) }
        case .handOver(let showing, let handler):
            if isCurrent(showing) { handler(ImageBinder.Presentation(showing)) }
        case .complete(let generation, let result): completions.removeValue(forKey: generation)?(result)
        }
    }

    /// Returns whether content should still be presented.
    ///
    /// A handler may have started or ended a binding in the meantime. Later content then replaces images and placeholders,
    /// but a later binding relies on a view that was cleared.
    private func isCurrent(_ showing: BinderStateMachine.PendingPresentation) -> Bool {
        showing.kind == .nothing || showing.generation == machine.generation
    }

    private func cancel(_ load: BinderStateMachine.LoadID, survives: Bool) {
        var tasks = [retired.removeValue(forKey: load)].compactMap(\.self)
        if let running = running.removeValue(forKey: load) {
            running.reader.cancel()
            if survives { running.task.priority = .veryLow } else { tasks.append(running.task) }
        }
        let heir = machine.load.flatMap { next in running[next].map { (load: next, url: $0.task.request.url) } }
        // The earliest load is the first one that joined the download, so the others aren't needed.
        for task in tasks {
            if let heir, heir.url == task.request.url, retired[heir.load] == nil {
                task.priority = .veryLow
                retired[heir.load] = task
            } else {
                task.cancel()
            }
        }
    }

    private func start(_ load: BinderStateMachine.LoadID, _ request: ImageRequest) {
        guard machine.load == load else { return }
        let manager = machine.options.manager ?? manager
        let mayRead =
            request.caching.readFrom.contains(.memory)
            && (request.cachePolicy ?? manager.configuration.cachePolicy).usesCache
        // The lookup stores the image in memory, where the load finds it.
        if mayRead, machine.options.loadsFromDiskSynchronously {
            _ = manager.loadCachedImageSynchronously(for: request, from: .all)
        }
        let start = manager.loadForView(request, readsMemory: mayRead)
        let task = start.task
        if let result = task.immediateResult {
            actions += machine.started(load, .result(result))
            return
        }
        let events = task.events
        let reader = Task { @MainActor [weak self] in
            for await event in events { self?.receive(event, of: load) }
        }
        running[load] = Running(task: task, reader: reader)
        let content = BinderStateMachine.StartResult.pending(
            stored: start.stored, otherSize: start.otherSize, preliminary: start.preliminary)
        actions += machine.started(load, content)
    }

    private func receive(_ event: ImageTask.Event, of load: BinderStateMachine.LoadID) {
        if case .finished = event { running[load] = nil }
        if case .started = event {} else { retired.removeValue(forKey: load)?.cancel() }
        perform(machine.receive(event, of: load))
    }

    private func publish() {
        let snapshot = machine.snapshot
        guard snapshot != published else { return }
        published = snapshot
        updateProgress()
        for stream in streams.values { stream.yield(snapshot) }
        onChange?(snapshot)
    }

    private func updateProgress() {
        guard let progress, let counts = published.unitCounts else { return }
        // A child whose completed count reaches its total adds to its parent, so this must not happen in between.
        if counts.completed < progress.completedUnitCount { progress.completedUnitCount = counts.completed }
        if counts.total != progress.totalUnitCount { progress.totalUnitCount = counts.total }
        if counts.completed != progress.completedUnitCount { progress.completedUnitCount = counts.completed }
    }
}
