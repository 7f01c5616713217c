// SPDX-License-Identifier: MIT

import WebImage
import WebImageCore
import WebImageStore

/// The decoded frames of one animation, shared by all of its players. The manager's worker threads decode each frame
/// once. The pool exists as long as a player retains it.
@MainActor
final class SharedFrameBuffer {
    private(set) var animation: ImageAnimation
    /// The time at which the clock of the synchronized players started.
    var origin: Int?
    private var firstFrame: PixelBuffer
    private let manager: ImageManager
    private var stateMachine: FrameBufferStateMachine
    private var frames: [Int: PixelBuffer] = [:]
    private var decodes: [Int: Task<Void, Never>] = [:]
    private var players: [Int: Member] = [:]
    private var nextPlayer = 0
    private var share = Int.max
    private var pressure: MemoryPressureObservation?
    private var level = MemoryPressureLevel.normal

    private struct Member {
        var budget: Int
        let whenReady: @MainActor () -> Void
    }

    init(_ animation: ImageAnimation, firstFrame: PixelBuffer, manager: ImageManager) {
        self.animation = animation
        self.firstFrame = firstFrame
        self.manager = manager
        stateMachine = FrameBufferStateMachine(frameBytes: firstFrame.byteCount, budget: 0)
        let source = manager.configuration.memoryPressureMonitor
        level = source.level
        pressure = source.observe(holdsMemory: { true }) { [weak self] event in
            Task { @MainActor [weak self] in self?.receive(event) }
        }
        source.startReading()
    }

    isolated deinit {
        for decode in decodes.values { decode.cancel() }
        SharedFrameBufferRegistry.shared.rebalance()
    }

    // MARK: - Players

    /// Adds a player. `whenReady` is called after a decode if a frame is due for the player.
    func join(budget: Int, whenReady: @escaping @MainActor () -> Void) -> Int {
        nextPlayer += 1
        players[nextPlayer] = Member(budget: budget, whenReady: whenReady)
        applyBudget()
        return nextPlayer
    }

    /// Changes the budget of a player, in bytes.
    func setBudget(_ bytes: Int, of player: Int) {
        players[player]?.budget = bytes
        applyBudget()
    }

    func leave(_ player: Int) {
        players[player] = nil
        perform(stateMachine.remove(player))
        applyBudget()
    }

    func request(_ want: FrameBufferStateMachine.FrameRequest, by player: Int) {
        perform(stateMachine.request(want, by: player))
    }

    func isAvailable(_ index: Int) -> Bool { stateMachine.isAvailable(index) }

    /// Whether a frame couldn't be decoded, or is being decoded and can still fail.
    var lacksFrames: Bool { !stateMachine.failed.isEmpty || !stateMachine.inFlight.isEmpty }

    func frame(at index: Int) -> PixelBuffer? { index == 0 ? firstFrame : frames[index] }

    /// The size of all cached frames in bytes, without the poster frame, which belongs to the image.
    var bytes: Int { stateMachine.bytes }

    /// The number of upcoming frames that a player can usefully request.
    var lookAhead: Int { min(stateMachine.lookAhead, animation.frameCount) }

    /// Continues with a version of the same image that has more frames. The decoded frames and the running decodes
    /// remain valid, and the frames that couldn't be decoded are decoded again, because their data may have arrived. The
    /// registry must know the new version.
    func extend(to animation: ImageAnimation, firstFrame: PixelBuffer) {
        self.animation = animation
        self.firstFrame = firstFrame
        perform(stateMachine.extend())
    }

    /// Copies the frames of another pool for an earlier version of the same image.
    func adopt(_ other: SharedFrameBuffer) {
        guard other !== self, other.firstFrame.size == firstFrame.size else { return }
        for (index, pixels) in other.frames where index < animation.frameCount && frames[index] == nil {
            frames[index] = pixels
            stateMachine.adopt(index, bytes: pixels.byteCount)
        }
        origin = origin ?? other.origin
    }

    // MARK: - Memory

    /// Sets this animation's share of the total budget, in bytes.
    func setShare(_ bytes: Int) {
        share = bytes
        applyBudget()
    }

    /// Releases the frames that no player needs.
    func clear() { perform(stateMachine.clear()) }

    private func applyBudget() {
        let wanted = players.values.map(\.budget).max() ?? 0
        perform(stateMachine.setBudget(level == .normal ? min(wanted, share) : 0))
    }

    private func receive(_ event: MemoryPressureEvent) {
        level = manager.configuration.memoryPressureMonitor.level
        if event.sheds { perform(stateMachine.shed()) }
        applyBudget()
    }

    // MARK: - Decoding

    private func perform(_ actions: [FrameBufferStateMachine.Action]) {
        for action in actions {
            switch action {
            case .drop(let index): frames[index] = nil
            case .decode(let index): decode(index)
            }
        }
    }

    private func decode(_ index: Int) {
        let (manager, animation, cost) = (manager, animation, stateMachine.frameBytes)
        decodes[index] = Task { [weak self] in
            let result: Result<PixelBuffer, ImageError>
            do throws(ImageError) {
                result = .success(try await manager.decodeFrame(at: index, of: animation, cost: cost))
            } catch {
                result = .failure(error)
            }
            self?.end(index, result)
        }
    }

    private func end(_ index: Int, _ result: Result<PixelBuffer, ImageError>) {
        decodes[index] = nil
        switch result {
        case .success(let pixels):
            frames[index] = pixels
            perform(stateMachine.arrived(index, bytes: pixels.byteCount))
        case .failure(let error): perform(stateMachine.failed(index, isFinal: !error.isPassing))
        }
        for (id, player) in players where stateMachine.requests[id]?.isDue == true { player.whenReady() }
    }
}

extension ImageError {
    /// Whether the same work can succeed later.
    fileprivate var isPassing: Bool {
        self == .cancelled || isOverloaded
    }
}
