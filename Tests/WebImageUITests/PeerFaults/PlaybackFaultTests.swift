// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageConcurrency
import WebImageCore
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage
@testable import WebImageStore
@testable import WebImageUI

@MainActor
@Suite("Playback: scenarios of other libraries", .timeLimit(.minutes(5)))
struct PlaybackFaultTests {
    private let fixture: ManagerFixture

    init() throws { fixture = try ManagerFixture() }

    private func player(_ film: CountedAnimation, _ options: AnimationPlayer.Options = .init()) throws
        -> AnimationPlayer
    {
        try #require(AnimationPlayer(film.image, manager: fixture.manager, options: options))
    }

    private func show(_ index: Int, _ player: AnimationPlayer, at milliseconds: Int) async {
        await untilTrue {
            _ = player.tick(at: .milliseconds(milliseconds))
            return player.frameIndex == index
        }
    }

    @Test(
        "S-21: A player that is stopped, cleared, hidden, and released in any order reports only frames with pixels",
        arguments: 0..<20)
    func orders(seed: Int) async throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let film = try CountedAnimation(frames: 4)
        var player: AnimationPlayer? = try player(film)
        var reports = 0
        player?.onFrame = { index, pixels in
            reports += 1
            #expect(pixels.pixel(x: 0, y: 0)?.red == UInt8(index))
        }
        for step in 0..<60 {
            switch Int.random(in: 0..<8, using: &random) {
            case 0: player?.stop()
            case 1: player?.clearFrameBuffer()
            case 2: player?.isVisible.toggle()
            case 3: player?.pause()
            case 4: player?.seek(toFrame: step % 4)
            default: player?.play()
            }
            _ = player?.tick(at: .milliseconds(step * 40))
            await Task.yield()
            #expect(player?.pixels.size == PixelSize(width: 8, height: 4))
        }
        player = nil
        let count = reports
        await passing()
        #expect(reports == count)
    }

    @Test("F-08: A player that starts to play while it's hidden decodes nothing and requests no tick")
    func hidden() async throws {
        let film = try CountedAnimation(frames: 5)
        let player = try player(film)
        var ticks = 0
        player.onNeedsTick = { ticks += 1 }
        player.isVisible = false
        player.play()
        for step in 0..<20 { #expect(player.tick(at: .milliseconds(step * 40)).nextTick == nil) }
        await passing()
        #expect(film.decoded.value.isEmpty && ticks == 0)
        player.isVisible = true
        // The clock starts with the first tick at which the player is visible.
        #expect(player.tick(at: .milliseconds(1_000)).nextTick == .milliseconds(1_040))
        #expect(player.frameIndex == 0 && ticks > 0)
        await show(1, player, at: 1_040)
    }

    @Test(
        "G-11: An animation plays as often as its loop count says and stops on its last frame",
        arguments: [(1, nil, 1), (2, nil, 2), (3, 1, 1), (0, 2, 2), (65_535, 2, 2)] as [(Int, Int?, Int)])
    func loopCounts(stored: Int, own: Int?, expected: Int) async throws {
        let film = try CountedAnimation(frames: 3, loops: stored)
        var options = AnimationPlayer.Options()
        options.loopCount = own
        let player = try player(film, options)
        var finished = 0
        player.onFinish = { finished += 1 }
        player.play()
        _ = player.tick(at: .zero)
        for step in 1..<expected * 3 { await show(step % 3, player, at: step * 40) }
        await untilTrue {
            _ = player.tick(at: .milliseconds(expected * 120))
            return player.state == .finished
        }
        #expect(finished == 1 && player.frameIndex == 2)
        #expect(player.tick(at: .seconds(10)).nextTick == nil && player.frameIndex == 2)
    }

    @Test("G-11: An animation with the loop count 0 or 65,535 continues after a hundred loops", arguments: [0, 65_535])
    func endless(loops: Int) {
        var machine = PlayerStateMachineTests.playing([40, 40], loops: loops)
        for tick in 1...2_000 { _ = machine.tick(at: tick * 10_000_000) { _ in true } }
        #expect(machine.loopsCompleted >= 100 && machine.state == .playing)
    }

    @Test(
        "K-13: On displays with any refresh rate, an animation is at most one tick late after a minute",
        arguments: [24.0, 60, 90, 144, 0])
    func refreshRates(rate: Double) {
        var machine = PlayerStateMachineTests.playing([40, 70, 100, 30])
        var random = SeededGenerator(seed: 4)
        var now = 0.0
        var longest = 0.0
        while now < 60_000 {
            _ = machine.tick(at: Int(now * 1_000_000)) { _ in true }
            let starts = [0.0, 40, 110, 210]
            let frames = [now, max(0, now - longest)].map { time in
                let elapsed = time.truncatingRemainder(dividingBy: 240)
                return starts.lastIndex { $0 <= elapsed } ?? 0
            }
            // The frame is the one of the timeline at this time or one tick earlier.
            #expect(frames.contains(machine.displayedIndex), "\(now) ms")
            let step = rate > 0 ? 1_000 / rate : Double.random(in: 4...30, using: &random)
            longest = max(longest, step)
            now += step
        }
    }

    @Test(
        "S-22: With budgets of zero, one frame, and all frames, an animation plays within its budget",
        arguments: [0, 1, 100])
    func budgets(frames: Int) async throws {
        let film = try CountedAnimation(frames: 6)
        let bytes = film.image.pixels.byteCount
        var options = AnimationPlayer.Options()
        options.frameBufferLimit = frames * bytes
        let player = try player(film, options)
        let pool = SharedFrameBufferRegistry.shared.pool(
            for: try #require(film.image.animation), firstFrame: film.image.pixels, manager: fixture.manager)
        player.play()
        for step in 0..<18 {
            await show(step % 6, player, at: step * 40)
            // The frame on screen and a due frame are always retained.
            #expect(pool.bytes <= min(6, frames + 2) * bytes)
        }
    }

    @Test("S-23: Five views of an animation decode each frame once, and the others continue if one ends")
    func sharedFrames() async throws {
        let film = try CountedAnimation(frames: 5)
        var players = try (0..<5).map { _ in try player(film) }
        for player in players { player.play() }
        for index in 0..<3 { for player in players { await show(index, player, at: index * 40) } }
        players.removeFirst()
        players[0].stop()
        for index in 3..<5 { for player in players.dropFirst() { await show(index, player, at: index * 40) } }
        for player in players.dropFirst() { await show(0, player, at: 200) }
        #expect(film.decoded.value.sorted() == [1, 2, 3, 4])
    }

    @Test("C-07: An animation that is shown again from memory plays from the beginning, also in another view")
    func again() async throws {
        let film = try CountedAnimation(frames: 3)
        var request = ImageRequest(url: .sample)
        request.cachePolicy = .cacheFirst
        let manager = fixture.manager
        try await manager.store(film.image, for: request, in: .memory)
        for _ in 0..<2 {
            let image = try await manager.image(for: request)
            let player = try #require(AnimationPlayer(image, manager: manager))
            #expect(player.frameIndex == 0)
            player.play()
            _ = player.tick(at: .zero)
            for index in 1..<3 { await show(index, player, at: index * 40) }
        }
    }

    @Test("F-12: An animation that finds no frame for a while plays when frames arrive")
    func busyWorkers() async throws {
        let gate = TestGate()
        let film = try CountedAnimation(frames: 3, gate: gate)
        let player = try player(film)
        player.play()
        for step in 0..<100 { _ = player.tick(at: .milliseconds(step * 40)) }
        #expect(player.frameIndex == 0 && player.state == .playing)
        gate.open()
        var shown: Set<Int> = []
        var time = 4_000
        await untilTrue {
            time += 20
            _ = player.tick(at: .milliseconds(time))
            shown.insert(player.frameIndex)
            return shown.count == 3
        }
        #expect(player.state == .playing)
    }

    @Test("F-13: While frames are released all the time, each tick shows a frame or keeps the old one")
    func frequentReleases() async throws {
        let monitor = MemoryPressureMonitor(observesSystem: false)
        let fixture = try ManagerFixture { $0.memoryPressureMonitor = monitor }
        let film = try CountedAnimation(frames: 6)
        var options = AnimationPlayer.Options()
        options.frameBufferLimit = 0
        let players = try (0..<3).map { _ in
            try #require(AnimationPlayer(film.image, manager: fixture.manager, options: options))
        }
        for player in players { player.play() }
        var (step, shown): (Int, Set<Int>) = (0, [])
        await untilTrue {
            if step.isMultiple(of: 5) { monitor.report(step.isMultiple(of: 2) ? .critical : .normal) }
            if step.isMultiple(of: 7) { players[step % 3].clearFrameBuffer() }
            for player in players {
                _ = player.tick(at: .milliseconds(step * 15))
                #expect(player.pixels.pixel(x: 0, y: 0)?.red == UInt8(player.frameIndex))
                shown.insert(player.frameIndex)
            }
            step += 1
            // The workers decode frames at their own speed.
            return step >= 400 && shown.count > 1
        }
    }
}
