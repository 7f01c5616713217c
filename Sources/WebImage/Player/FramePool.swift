// SPDX-License-Identifier: MIT

import WebImageConcurrency
import WebImageCore
import WebImageStore

/// The decoded frames of one animation, shared by all of its players. The manager's worker threads decode each frame
/// once. The pool exists as long as a player retains it.
@MainActor
final class FramePool {
    let animation: ImageAnimation
    /// The time at which the clock of the synchronized players started.
    var origin: Int?
    private let poster: PixelBuffer
    private let manager: ImageManager
    private var ledger: FrameLedger
    private var frames: [Int: PixelBuffer] = [:]
    private var decodes: [Int: Task<Void, Never>] = [:]
    private var players: [Int: Member] = [:]
    private var nextPlayer = 0
    private var share = Int.max
    private var pressure: MemoryPressureObservation?
    private var level = MemoryPressureLevel.normal

    private struct Member {
        let budget: Int
        let whenReady: @MainActor () -> Void
    }

    init(_ animation: ImageAnimation, poster: PixelBuffer, manager: ImageManager) {
        self.animation = animation
        self.poster = poster
        self.manager = manager
        ledger = FrameLedger(frameBytes: poster.byteCount, budget: 0)
        let source = manager.configuration.memoryPressure
        level = source.level
        pressure = source.observe(holdsMemory: { true }) { [weak self] event in
            Task { @MainActor [weak self] in self?.take(event) }
        }
        source.startReading()
    }

    isolated deinit {
        for decode in decodes.values { decode.cancel() }
        FramePools.shared.rebalance()
    }

    // MARK: - Players

    /// Adds a player. `whenReady` is called after a decode if a frame is due for the player.
    func join(budget: Int, whenReady: @escaping @MainActor () -> Void) -> Int {
        nextPlayer += 1
        players[nextPlayer] = Member(budget: budget, whenReady: whenReady)
        applyBudget()
        return nextPlayer
    }

    func leave(_ player: Int) {
        players[player] = nil
        perform(ledger.remove(player))
        applyBudget()
    }

    func want(_ want: FrameLedger.Want, by player: Int) { perform(ledger.want(want, by: player)) }

    func isHeld(_ index: Int) -> Bool { ledger.isHeld(index) }

    /// Returns the pixels of a cached frame.
    func frame(at index: Int) -> PixelBuffer? { index == 0 ? poster : frames[index] }

    /// The size of all cached frames in bytes, without the poster frame, which belongs to the image.
    var bytes: Int { ledger.bytes }

    /// The number of upcoming frames that a player can usefully request.
    var lookAhead: Int { min(ledger.lookAhead, animation.timeline.frameCount) }

    /// Copies the frames of another pool for an earlier version of the same image.
    func adopt(_ other: FramePool) {
        guard other !== self, other.poster.size == poster.size else { return }
        for (index, pixels) in other.frames where index < animation.timeline.frameCount && frames[index] == nil {
            frames[index] = pixels
            ledger.adopt(index, bytes: pixels.byteCount)
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
    func clear() { perform(ledger.clear()) }

    private func applyBudget() {
        let wanted = players.values.map(\.budget).max() ?? 0
        perform(ledger.setBudget(level == .normal ? min(wanted, share) : 0))
    }

    private func take(_ event: MemoryPressureEvent) {
        level = manager.configuration.memoryPressure.level
        if event.sheds { perform(ledger.shed()) }
        applyBudget()
    }

    // MARK: - Decoding

    private func perform(_ actions: [FrameLedger.Action]) {
        for action in actions {
            switch action {
            case .drop(let index): frames[index] = nil
            case .decode(let index): decode(index)
            }
        }
    }

    private func decode(_ index: Int) {
        let (workers, limits) = (manager.pipeline.workers, manager.configuration.limits)
        let (animation, cost) = (animation, ledger.frameBytes)
        let preparation = manager.pipeline.preparation
        decodes[index] = Task { [weak self] in
            let result: Result<PixelBuffer, ImageError>
            do throws(ImageError) {
                let pixels = try await workers.run(cost: cost, priority: LivePriority(.high), limits: limits) {
                    (_) throws(ImageError) in
                    let pixels = try animation.frame(at: index)
                    preparation(pixels)
                    return pixels
                }
                result = .success(pixels)
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
            perform(ledger.arrived(index, bytes: pixels.byteCount))
        case .failure(let error): perform(ledger.failed(index, isFinal: !error.isPassing))
        }
        for (id, player) in players where ledger.wants[id]?.isDue == true { player.whenReady() }
    }
}

extension ImageError {
    /// A Boolean value that indicates whether the same work can succeed later.
    fileprivate var isPassing: Bool {
        switch self {
        case .request(.cancelled): true
        case .limit(let error): error.kind == .overloaded
        default: false
        }
    }
}
