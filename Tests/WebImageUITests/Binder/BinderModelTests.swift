// SPDX-License-Identifier: MIT

import Testing
import WebImageCore
import WebImageManagerTestSupport
import WebImageTestSupport

@testable import WebImage
@testable import WebImageUI

/// Random life cycles of a view, with loads that finish late, twice, or after their cancellation. The model checks the
/// invariants of the machine.
@Suite("Binder model")
struct BinderModelTests {
    struct World {
        var machine = BinderStateMachine(isMapped: true)
        var random: SeededGenerator
        /// The generation of the binding that started each load.
        var owners: [Int: Int] = [:]
        var running: Set<Int> = []
        var completions: [Int: Int] = [:]
        var best: [Int: ImageBinder.Presentation.Kind] = [:]
        /// The most recent content that the handler of each generation received.
        var handedOver: [Int: ImageBinder.Presentation.Kind] = [:]
        var options = ImageViewOptions()
        var isBound = false
        var steps = 0

        mutating func chance(_ part: Int) -> Bool { Int.random(in: 0..<part, using: &random) == 0 }

        mutating func probe() throws -> BinderStateMachine.StartResult {
            let number = machine.generation
            switch Int.random(in: 0..<7, using: &random) {
            case 0: return .result(.success(BinderImages.response(try BinderImages.image(number), .memoryCache)))
            case 1: return .result(.failure(BinderImages.notFound))
            case 2: return .pending(stored: try BinderImages.image(number), otherSize: nil)
            case 3: return .pending(stored: nil, otherSize: try BinderImages.image(number))
            case 4: return .pending(stored: nil, otherSize: nil, preliminary: try BinderImages.image(number))
            default: return .pending(stored: nil, otherSize: nil)
            }
        }

        mutating func event(of load: Int) throws -> ImageTask.Event {
            let image = try BinderImages.image(owners[load] ?? -1, dimension: Int.random(in: 4...40, using: &random))
            switch Int.random(in: 0..<8, using: &random) {
            case 0: return .started
            case 1: return .progress(ImageTask.Progress(receivedByteCount: 1, expectedByteCount: nil))
            case 2: return .cached(BinderImages.response(image, .diskCache))
            case 3, 4: return .preview(image)
            case 5: return .finished(.failure(chance(2) ? BinderImages.offline : BinderImages.notFound))
            default: return .finished(.success(BinderImages.response(image)))
            }
        }

        mutating func perform(_ actions: [BinderStateMachine.Action]) throws {
            var queue = actions
            while !queue.isEmpty {
                switch queue.removeFirst() {
                case .start(let load, let request):
                    #expect(owners[load] == nil)
                    #expect(request.size != nil || options.sizing == .originalSize)
                    owners[load] = machine.generation
                    let probe = try probe()
                    if case .pending = probe { running.insert(load) }
                    queue += machine.started(load, probe)
                case .cancel(let load, _): running.remove(load)
                case .setPriority(let load, _): #expect(running.contains(load))
                case .present(let showing):
                    check(showing, in: \.best)
                    #expect(options.setsImageAutomatically || showing.kind == .nothing)
                case .handOver(let showing, _):
                    check(showing, in: \.handedOver)
                    #expect(options.onPresentation != nil)
                case .complete(let generation, _): completions[generation, default: 0] += 1
                }
            }
        }

        mutating func check(
            _ showing: BinderStateMachine.PendingPresentation,
            in kinds: WritableKeyPath<World, [Int: ImageBinder.Presentation.Kind]>
        ) {
            #expect(showing.generation == machine.generation)
            #expect(isBound || showing.kind == .nothing)
            if options.delaysPlaceholder, showing.kind == .placeholder, machine.binding.request != nil {
                #expect(machine.binding.phase == .cancelled || machine.binding.phase == .ended, "the load has ended")
            }
            if case .image(let image) = showing.content, showing.kind.isOfImage {
                #expect(image.number == machine.generation)
            }
            if self[keyPath: kinds][showing.generation] == .image { #expect(showing.kind == .image) }
            self[keyPath: kinds][showing.generation] = showing.kind
        }

        mutating func checkRest() {
            #expect(running.count <= 1)
            if !machine.isMapped, options.offscreenBehavior == .cancel { #expect(running.isEmpty) }
            if !isBound { #expect(running.isEmpty) }
            if machine.binding.phase == .cancelled { #expect(running.isEmpty && completions[machine.generation] == 1) }
            // A view isn't empty after a failure.
            if case .failed = machine.snapshot.state, options.setsImageAutomatically { #expect(machine.content != nil) }
            if machine.content?.kind.isOfImage != true { #expect(machine.snapshot.displayedRequest == nil) }
            #expect((machine.snapshot.request == nil) == (machine.binding.request == nil))
            #expect(completions.values.allSatisfy { $0 == 1 })
            for generation in max(1, machine.generation - 3)..<max(1, machine.generation) {
                // An unbinding has a generation but nothing to complete.
                #expect(completions[generation] == 1 || unbindings.contains(generation))
            }
        }

        var unbindings: Set<Int> = []

        mutating func bind() throws {
            options = ImageViewOptions(placeholder: chance(4) ? .empty : .color(.black))
            options.keepsCurrentImage = chance(3)
            options.failurePlaceholder = chance(2) ? .color(.white) : nil
            options.delaysPlaceholder = chance(2)
            options.sizing = [.originalSize, .fit, .fill][Int.random(in: 0..<3, using: &random)]
            options.offscreenBehavior =
                [.cancel, .continue, .lowerPriority(to: .low)][Int.random(in: 0..<3, using: &random)]
            options.retriesWhenNetworkReturns = chance(2)
            options.retriesWhenVisible = chance(2)
            options.transition = chance(2) ? .zoom().forced() : .none
            options.setsImageAutomatically = !chance(3)
            if chance(2) { options.onPresentation = { _ in } }
            isBound = true
            try perform(machine.bind(chance(10) ? nil : BinderDriver.request, options))
        }

        mutating func step() throws {
            let wasCancelled = machine.binding.phase == .cancelled
            let choice = Int.random(in: 0..<25, using: &random)
            defer {
                // Only a new binding, unbinding, and a retry leave this phase.
                if wasCancelled, ![0, 1, 2, 8].contains(choice) { #expect(machine.binding.phase == .cancelled) }
            }
            switch choice {
            case 0, 1: try bind()
            case 2:
                isBound = false
                let before = machine.generation
                let actions = machine.unbind()
                #expect(machine.generation == before + 1)
                unbindings.insert(machine.generation)
                try perform(actions)
            case 3: try perform(machine.setMapped(false))
            case 4, 5: try perform(machine.setMapped(true))
            case 6, 7:
                let sides = [0, 4, 6, 10, 20, 40].map(Double.init)
                let allocation = ViewAllocation(
                    width: sides.randomElement(using: &random) ?? 0, height: sides.randomElement(using: &random) ?? 0,
                    scaleFactor: chance(3) ? 2 : 1)
                try perform(machine.allocate(allocation))
            case 8: try perform(machine.retry())
            case 9: try perform(machine.networkReturned())
            case 10: try perform(machine.setPriority(chance(2) ? .high : .low))
            case 11: try perform(machine.cancel())
            default: try deliver()
            }
            checkRest()
        }

        /// Delivers an event of a load: usually of the running one, and sometimes of one that must be ignored.
        mutating func deliver() throws {
            let load = chance(3) ? Int.random(in: 1...max(1, machine.lastLoad), using: &random) : running.first
            guard let load else { return }
            let event = try event(of: load)
            let isHeard = machine.load == load
            if case .finished = event { running.remove(load) }
            let actions = machine.receive(event, of: load)
            if !isHeard { #expect(actions.isEmpty) }
            try perform(actions)
        }
    }

    @Test("K-17: The invariants hold over random life cycles of a view", arguments: 0..<6)
    func promises(seed: Int) throws {
        var world = World(random: SeededGenerator(seed: UInt64(seed) &* 9_176 &+ 5))
        for _ in 0..<4_000 { try world.step() }
        #expect(world.completions.count > 100)
        for kinds in [world.best, world.handedOver] {
            #expect(kinds.values.contains(.image) && kinds.values.contains(.failurePlaceholder))
        }
    }
}
