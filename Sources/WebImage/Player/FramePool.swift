// SPDX-License-Identifier: MIT

import WebImageConcurrency
import WebImageCore
import WebImageStore

/// The decoded frames of one animation, for all players of it: each frame is decoded once, on the manager's worker
/// threads. Lives as long as a player holds it.
@MainActor
final class FramePool {
    let animation: ImageAnimation
    /// Where the clock of the synchronised players began.
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

    /// Adds a player; `whenReady` is called when a frame has come while one was due for it.
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

    /// The pixels of a frame that is held.
    func frame(at index: Int) -> PixelBuffer? { index == 0 ? poster : frames[index] }

    /// Bytes of all frames held; the poster is the picture's.
    var bytes: Int { ledger.bytes }

    /// How many frames a player may usefully name as next.
    var lookAhead: Int { min(ledger.lookAhead, animation.timeline.frameCount) }

    /// Takes over frames of the same picture when less of it was there.
    func adopt(_ other: FramePool) {
        guard other !== self, other.poster.size == poster.size else { return }
        for (index, pixels) in other.frames where index < animation.timeline.frameCount && frames[index] == nil {
            frames[index] = pixels
            ledger.adopt(index, bytes: pixels.byteCount)
        }
        origin = origin ?? other.origin
    }

    // MARK: - Memory

    /// Bytes that this picture may have of what all have together.
    func setShare(_ bytes: Int) {
        share = bytes
        applyBudget()
    }

    /// Drops the frames that no player needs.
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
    /// Whether the same work may succeed a moment later.
    fileprivate var isPassing: Bool {
        switch self {
        case .request(.cancelled): true
        case .limit(let error): error.kind == .overloaded
        default: false
        }
    }
}
