// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageHTTPTesting
import WebImageNet
import WebImageTestSupport

@Suite("Load context", .timeLimit(.minutes(5)))
struct LoadContextTests {
    @Test("A loader receives the latest priority last, even if two changes overlap")
    func order() async {
        let context = LoadContext(priority: .low)
        let applied = Shared<[RequestPriority]>([])
        let (isDelivering, mayGoOn, firstIsOver, secondIsOver) = (TestGate(), TestGate(), TestGate(), TestGate())
        context.onPriorityChange { priority in
            if priority == .high {
                isDelivering.open()
                mayGoOn.blockingWait()
            }
            applied.update { $0.append(priority) }
        }
        Thread {
            context.priority = .high
            firstIsOver.open()
        }.start()
        await isDelivering.wait()
        Thread {
            context.priority = .veryLow
            secondIsOver.open()
        }.start()
        await secondIsOver.wait()
        mayGoOn.open()
        await firstIsOver.wait()
        #expect(applied.value == [.high, .veryLow])
    }
}
