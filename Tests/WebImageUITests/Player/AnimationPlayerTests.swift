// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
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
@Suite("Animation player", .timeLimit(.minutes(5)))
struct AnimationPlayerTests {
    /// Ticks at `milliseconds` until the frame `index` is shown.
    private func show(_ index: Int, _ player: AnimationPlayer, at milliseconds: Int) async {
        await untilTrue {
            _ = player.tick(at: .milliseconds(milliseconds))
            return player.frameIndex == index
        }
    }

    @Test("A still image has no player")
    func still() throws {
        #expect(AnimationPlayer(DecodedImage(pixels: try TestImages.pixels(1))) == nil)
    }

    @Test("The poster frame and then each frame are shown and reported with their pixels")
    func plays() async throws {
        let fixture = try ManagerFixture()
        let moving = try CountedAnimation(frames: 4, loops: 1)
        let player = try #require(AnimationPlayer(moving.image, manager: fixture.manager))
        #expect(player.pixels === moving.image.pixels)
        #expect(player.tick(at: .zero).nextTick == nil)
        var reported: [Int] = []
        var finished = 0
        var loops: [Int] = []
        player.onFrame = { index, pixels in
            reported.append(index)
            #expect(pixels.pixel(x: 0, y: 0)?.red == UInt8(index))
        }
        player.onFinish = { finished += 1 }
        player.onLoop = { loops.append($0) }
        player.play()
        #expect(player.tick(at: .zero).nextTick == .milliseconds(40))
        for index in 1..<4 { await show(index, player, at: index * 40) }
        await untilTrue {
            _ = player.tick(at: .milliseconds(160))
            return player.state == .finished
        }
        #expect(reported == [1, 2, 3])
        #expect(loops == [1])
        #expect(finished == 1)
        #expect(moving.decoded.value == [1, 2, 3])
    }

    @Test("All players of an image share each decoded frame")
    func shares() async throws {
        let fixture = try ManagerFixture()
        let moving = try CountedAnimation(frames: 5)
        let players = try (0..<3).map { _ in
            try #require(AnimationPlayer(moving.image, manager: fixture.manager))
        }
        for player in players { player.play() }
        for loop in 0..<2 {
            for index in 0..<5 {
                for player in players { await show(index, player, at: loop * 200 + index * 40) }
                #expect(players.allSatisfy { $0.pixels === players[0].pixels })
            }
        }
        #expect(moving.decoded.value == [1, 2, 3, 4])
    }

    @Test("The player requests a tick when an awaited frame is decoded")
    func callsForTicks() async throws {
        let fixture = try ManagerFixture()
        let gate = TestGate()
        let moving = try CountedAnimation(frames: 3, gate: gate)
        let player = try #require(AnimationPlayer(moving.image, manager: fixture.manager))
        var calls = 0
        player.onNeedsTick = { calls += 1 }
        player.play()
        #expect(calls == 1)
        _ = player.tick(at: .zero)
        let tick = player.tick(at: .milliseconds(45))
        #expect(!tick.didChange && tick.nextTick == nil)
        gate.open()
        await untilTrue { calls >= 2 }
        #expect(player.tick(at: .milliseconds(46)).didChange)
        #expect(player.frameIndex == 1)
    }

    @Test("F-08: An invisible or stopped player and one with reduced motion decode no frames")
    func idles() async throws {
        let fixture = try ManagerFixture()
        let moving = try CountedAnimation(frames: 3)
        let player = try #require(AnimationPlayer(moving.image, manager: fixture.manager))
        _ = player.tick(at: .zero)
        player.isVisible = false
        player.play()
        _ = player.tick(at: .milliseconds(100))
        player.options.reducesMotion = true
        player.isVisible = true
        #expect(player.tick(at: .milliseconds(200)).nextTick == nil)
        #expect(fixture.manager.runningJobs == 0)
        #expect(moving.decoded.value.isEmpty)
        player.options.reducesMotion = false
        await show(0, player, at: 300)
        #expect(player.tick(at: .milliseconds(301)).nextTick == .milliseconds(340))
    }

    @Test("Changed options take effect while the animation plays")
    func changesOptions() async throws {
        let fixture = try ManagerFixture()
        let moving = try CountedAnimation(frames: 4)
        let player = try #require(AnimationPlayer(moving.image, manager: fixture.manager))
        player.play()
        #expect(player.tick(at: .zero).nextTick == .milliseconds(40))
        player.options.rate = 2
        #expect(player.tick(at: .zero).nextTick == .milliseconds(20))
        player.options.loopCount = 1
        for index in 1..<4 { await show(index, player, at: index * 20) }
        await untilTrue {
            _ = player.tick(at: .milliseconds(80))
            return player.state == .finished
        }
        player.stop()
        #expect(player.state == .stopped && player.pixels === moving.image.pixels)
    }

    @Test("The frame pool holds at most its budget and the current frame")
    func budget() async throws {
        let fixture = try ManagerFixture()
        let moving = try CountedAnimation(frames: 10)
        let bytes = moving.image.pixels.byteCount
        var options = AnimationPlayer.Options()
        options.frameBufferLimit = 2 * bytes
        let player = try #require(
            AnimationPlayer(moving.image, manager: fixture.manager, options: options))
        let pool = SharedFrameBufferRegistry.shared.pool(
            for: try #require(moving.image.animation), firstFrame: moving.image.pixels, manager: fixture.manager)
        player.play()
        for step in 0..<30 {
            await show(step % 10, player, at: step * 40)
            #expect(pool.bytes <= 3 * bytes)
        }
    }

    @Test("A player that doesn't play decodes frames in advance if its options say so, within the budget")
    func preloading() async throws {
        let fixture = try ManagerFixture()
        let moving = try CountedAnimation(frames: 6)
        let bytes = moving.image.pixels.byteCount
        let idle = try #require(AnimationPlayer(moving.image, manager: fixture.manager))
        let pool = SharedFrameBufferRegistry.shared.pool(
            for: try #require(moving.image.animation), firstFrame: moving.image.pixels, manager: fixture.manager)
        _ = idle.tick(at: .zero)
        #expect(!pool.lacksFrames && pool.bytes == 0)
        var options = AnimationPlayer.Options()
        options.preloadsFrames = true
        options.frameBufferLimit = 3 * bytes
        idle.options.frameBufferLimit = 0
        let player = try #require(AnimationPlayer(moving.image, manager: fixture.manager, options: options))
        await untilTrue { (1...3).allSatisfy { pool.isAvailable($0) } && !pool.lacksFrames }
        #expect(moving.decoded.value == [1, 2, 3] && player.state == .stopped)
        player.options.frameBufferLimit = .max
        await untilTrue { (1...5).allSatisfy { pool.isAvailable($0) } && !pool.lacksFrames }
        #expect(moving.decoded.value == [1, 2, 3, 4, 5])
        // Each frame is decoded once.
        player.play()
        for index in 0..<6 { await show(index, player, at: index * 40) }
        #expect(moving.decoded.value == [1, 2, 3, 4, 5])
        #expect(idle.state == .stopped)
    }

    @Test("A hidden player and a player with reduced motion decode no frames in advance")
    func noPreloading() async throws {
        let fixture = try ManagerFixture()
        let moving = try CountedAnimation(frames: 3)
        var options = AnimationPlayer.Options()
        options.preloadsFrames = true
        options.reducesMotion = true
        let player = try #require(AnimationPlayer(moving.image, manager: fixture.manager, options: options))
        let pool = SharedFrameBufferRegistry.shared.pool(
            for: try #require(moving.image.animation), firstFrame: moving.image.pixels, manager: fixture.manager)
        #expect(!pool.lacksFrames)
        player.isVisible = false
        player.options.reducesMotion = false
        #expect(!pool.lacksFrames && moving.decoded.value.isEmpty)
        player.isVisible = true
        await untilTrue { pool.isAvailable(1) && pool.isAvailable(2) }
        player.pause()
        #expect(player.state == .stopped)
    }

    @Test("Under memory pressure only the current frame is kept, and decoding ahead resumes afterward")
    func pressure() async throws {
        let uptime = Shared(0.0)
        let clock = TimeSource(now: { Date() }, uptime: { uptime.value })
        let source = MemoryPressureMonitor(files: nil, clock: clock, hasThread: false)
        let fixture = try ManagerFixture { $0.memoryPressureMonitor = source }
        let moving = try CountedAnimation(frames: 4)
        let player = try #require(AnimationPlayer(moving.image, manager: fixture.manager))
        let pool = SharedFrameBufferRegistry.shared.pool(
            for: try #require(moving.image.animation), firstFrame: moving.image.pixels, manager: fixture.manager)
        player.play()
        await show(0, player, at: 0)
        await show(1, player, at: 40)
        await untilTrue { pool.isAvailable(2) && pool.isAvailable(3) }
        source.report(.medium)
        await untilTrue { !pool.isAvailable(3) }
        #expect(pool.isAvailable(1) && !pool.isAvailable(2))
        #expect(pool.frame(at: 1) === player.pixels)
        await show(2, player, at: 80)
        #expect(!pool.isAvailable(3))
        uptime.value = 60
        source.tick()
        await untilTrue { pool.isAvailable(3) }
    }

    @Test("A frame that can't be decoded is skipped")
    func broken() async throws {
        let fixture = try ManagerFixture()
        let moving = try CountedAnimation(frames: 3, corrupt: [1])
        let player = try #require(AnimationPlayer(moving.image, manager: fixture.manager))
        player.play()
        _ = player.tick(at: .zero)
        await untilTrue { moving.decoded.value.contains(2) }
        _ = player.tick(at: .milliseconds(40))
        #expect(player.pixels === moving.image.pixels)
        await show(2, player, at: 80)
        #expect(moving.decoded.value.count { $0 == 1 } == 1)
    }

    @Test("Seeking shows the frame even if the player isn't playing, and stopping can remove the decoded frames")
    func seeks() async throws {
        let fixture = try ManagerFixture()
        let moving = try CountedAnimation(frames: 6)
        let player = try #require(AnimationPlayer(moving.image, manager: fixture.manager))
        let pool = SharedFrameBufferRegistry.shared.pool(
            for: try #require(moving.image.animation), firstFrame: moving.image.pixels, manager: fixture.manager)
        #expect(player.seek(toFrame: 4))
        #expect(!player.seek(toFrame: 6))
        await show(4, player, at: 0)
        #expect(moving.decoded.value == [4])
        player.seek(to: .milliseconds(90))
        await show(2, player, at: 0)
        player.stop(clears: true)
        #expect(player.pixels === moving.image.pixels)
        #expect(pool.bytes == 0)
    }

    @Test("Synchronized players show the same frame regardless of their start times")
    func synchronised() async throws {
        let fixture = try ManagerFixture()
        let moving = try CountedAnimation(frames: 5)
        var options = AnimationPlayer.Options()
        options.isSynchronized = true
        let first = try #require(AnimationPlayer(moving.image, manager: fixture.manager, options: options))
        let second = try #require(AnimationPlayer(moving.image, manager: fixture.manager, options: options))
        first.play()
        _ = first.tick(at: .milliseconds(1_000))
        second.play()
        _ = second.tick(at: .milliseconds(1_050))
        await show(3, first, at: 1_130)
        await show(3, second, at: 1_130)
        #expect(first.pixels === second.pixels)
    }

    @Test("S-20: An animation that is still downloading continues with its available frames")
    func grows() async throws {
        let fixture = try ManagerFixture()
        let part = try CountedAnimation(frames: 2)
        let player = try #require(AnimationPlayer(part.image, manager: fixture.manager, isComplete: false))
        player.play()
        _ = player.tick(at: .zero)
        await show(1, player, at: 40)
        #expect(player.tick(at: .milliseconds(100)).nextTick == nil)
        let whole = try CountedAnimation(frames: 3)
        #expect(player.update(whole.image))
        await show(2, player, at: 200)
        #expect(whole.decoded.value == [2])
        #expect(!player.update(DecodedImage(pixels: part.image.pixels)))
    }

    @Test("A version with more frames doesn't interrupt a running decode, and another player joins its frames")
    func growsDuringDecode() async throws {
        let fixture = try ManagerFixture()
        let gate = TestGate()
        let part = try CountedAnimation(frames: 2, gate: gate)
        let whole = try CountedAnimation(frames: 3)
        let players = try (0..<2).map { _ in
            try #require(AnimationPlayer(part.image, manager: fixture.manager, isComplete: false))
        }
        for player in players {
            player.play()
            _ = player.tick(at: .zero)
            #expect(player.update(whole.image, isComplete: true))
        }
        gate.open()
        for index in 1..<3 {
            for player in players { await show(index, player, at: index * 40) }
            #expect(players[0].pixels === players[1].pixels)
        }
        #expect(part.decoded.value == [1])
        #expect(whole.decoded.value == [2])
    }

    @Test("A last frame whose data wasn't available is shown when the data arrives", arguments: [true, false])
    func growsAfterFailure(isComplete: Bool) async throws {
        let fixture = try ManagerFixture()
        let part = try CountedAnimation(frames: 2, loops: 1, corrupt: [1])
        let player = try #require(AnimationPlayer(part.image, manager: fixture.manager, isComplete: false))
        player.play()
        _ = player.tick(at: .zero)
        await untilTrue {
            _ = player.tick(at: .milliseconds(50))
            return player.tick(at: .milliseconds(100)).nextTick == nil && part.decoded.value == [1]
        }
        #expect(player.frameIndex == 0)
        var calls = 0
        player.onNeedsTick = { calls += 1 }
        let whole = try CountedAnimation(frames: 2, loops: 1)
        #expect(player.update(whole.image, isComplete: isComplete))
        await show(1, player, at: 110)
        #expect(calls > 0 && whole.decoded.value == [1])
        if isComplete { await untilTrue { player.tick(at: .seconds(2)).nextTick == nil && player.state == .finished } }
        #expect(part.decoded.value == [1])
    }

    @Test("A decode that fails after more data arrived is repeated with that data")
    func growsDuringFailure() async throws {
        let fixture = try ManagerFixture()
        let gate = TestGate()
        let part = try CountedAnimation(frames: 2, gate: gate, corrupt: [1])
        let whole = try CountedAnimation(frames: 3)
        let player = try #require(AnimationPlayer(part.image, manager: fixture.manager, isComplete: false))
        player.play()
        _ = player.tick(at: .zero)
        #expect(player.update(whole.image, isComplete: true))
        gate.open()
        await show(1, player, at: 40)
        await show(2, player, at: 80)
        #expect(part.decoded.value == [1])
        #expect(whole.decoded.value.sorted() == [1, 2])
    }

    @Test("Seeking to a loop continues there without reporting the skipped loops")
    func seeksToLoop() async throws {
        let fixture = try ManagerFixture()
        let moving = try CountedAnimation(frames: 2, loops: 4)
        let player = try #require(AnimationPlayer(moving.image, manager: fixture.manager))
        var loops: [Int] = []
        player.onLoop = { loops.append($0) }
        player.play()
        _ = player.tick(at: .zero)
        #expect(!player.seek(toFrame: 2, completedLoops: 1))
        #expect(player.completedLoops == 0)
        #expect(player.seek(toFrame: 1, completedLoops: 2))
        #expect(player.completedLoops == 2)
        await show(1, player, at: 10)
        await show(0, player, at: 50)
        #expect(loops == [3])
        #expect(player.seek(toFrame: 0, completedLoops: 9) && player.completedLoops == 3, "the last loop")
        #expect(player.seek(toFrame: 0, completedLoops: -1) && player.completedLoops == 0)
    }

    @Test("Clearing the frame buffer keeps the displayed frame of a paused player, and playback decodes again")
    func clears() async throws {
        let fixture = try ManagerFixture()
        let moving = try CountedAnimation(frames: 3)
        let player = try #require(AnimationPlayer(moving.image, manager: fixture.manager))
        let pool = SharedFrameBufferRegistry.shared.pool(
            for: try #require(moving.image.animation), firstFrame: moving.image.pixels, manager: fixture.manager)
        player.play()
        _ = player.tick(at: .zero)
        await show(1, player, at: 40)
        await untilTrue { pool.isAvailable(2) }
        player.pause()
        player.clearFrameBuffer()
        #expect(pool.isAvailable(1) && !pool.isAvailable(2) && pool.bytes == player.pixels.byteCount)
        player.play()
        _ = player.tick(at: .milliseconds(50))
        await show(2, player, at: 90)
        #expect(moving.decoded.value == [1, 2, 2])
    }

    @Test("A player rejects an update with other frames than those that it shows")
    func rejectsOtherImages() throws {
        let fixture = try ManagerFixture()
        let moving = try CountedAnimation(frames: 3)
        let player = try #require(AnimationPlayer(moving.image, manager: fixture.manager, isComplete: false))
        #expect(!player.update(try CountedAnimation(frames: 2).image))
        #expect(!player.update(try CountedAnimation(frames: 4, milliseconds: 50).image))
        let other = DecodedImage(
            pixels: try CountedAnimation.pixels(9), animation: try CountedAnimation(frames: 4).image.animation)
        #expect(!player.update(other))
        #expect(player.image === moving.image)
        #expect(player.update(try CountedAnimation(frames: 4).image))
    }

    @Test("Players that are deallocated release their pool and its frames")
    func releases() async throws {
        let fixture = try ManagerFixture()
        let moving = try CountedAnimation(frames: 3)
        var player = AnimationPlayer(moving.image, manager: fixture.manager)
        weak let pool = SharedFrameBufferRegistry.shared.pool(
            for: try #require(moving.image.animation), firstFrame: moving.image.pixels, manager: fixture.manager)
        player?.play()
        _ = player?.tick(at: .zero)
        #expect(pool != nil)
        player = nil
        await untilTrue { pool == nil }
    }
}
