// SPDX-License-Identifier: MIT

import Testing
import WebImage
import WebImageManagerTestSupport

@testable import WebImageUI

/// A driver that performs the actions of a machine as a view would and records them. Loads stay pending unless `probe`
/// has a result.
struct BinderDriver {
    var machine = BinderStateMachine(isMapped: true)
    var presented: [BinderStateMachine.PendingPresentation] = []
    var handedOver: [BinderStateMachine.PendingPresentation] = []
    /// The kinds of the content that the handler received, and the ends of bindings, in order.
    var handled: [String] = []
    var started: [ImageRequest] = []
    var running: Set<Int> = []
    var cancelled: [Int] = []
    var priorities: [RequestPriority] = []
    var completed: [Result<ImageResponse, ImageError>] = []
    /// The result of the memory lookup for the next load.
    var probe = BinderStateMachine.StartResult.pending(stored: nil, otherSize: nil)

    var kinds: [ImageBinder.Presentation.Kind] { presented.map(\.kind) }
    var load: Int { machine.lastLoad }

    mutating func perform(_ actions: [BinderStateMachine.Action]) {
        var queue = actions
        while !queue.isEmpty {
            switch queue.removeFirst() {
            case .start(let load, let request):
                started.append(request)
                running.insert(load)
                if case .result = probe { running.remove(load) }
                queue += machine.started(load, probe)
            case .cancel(let load, _):
                running.remove(load)
                cancelled.append(load)
            case .setPriority(_, let priority): priorities.append(priority)
            case .present(let showing): presented.append(showing)
            case .handOver(let showing, _):
                handedOver.append(showing)
                handled.append(showing.kind.rawValue)
            case .complete(_, let result):
                completed.append(result)
                handled.append("end")
            }
        }
    }

    mutating func bind(
        _ request: ImageRequest? = BinderDriver.request, _ change: (inout ImageViewOptions) -> Void = { _ in }
    ) {
        var options = ImageViewOptions(placeholder: .color(.black), transition: .crossFade())
        options.sizing = .originalSize
        options.failurePlaceholder = .color(.white)
        change(&options)
        perform(machine.bind(request, options))
    }

    mutating func finish(_ result: Result<ImageResponse, ImageError>) {
        running.remove(load)
        perform(machine.receive(.finished(result), of: load))
    }

    static let request = ImageRequest(url: BinderImages.url)
}
