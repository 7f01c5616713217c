// SPDX-License-Identifier: MIT

import Testing

@testable import WebImageCommand

@Suite("Ordered delivery of results")
struct OrderedDeliveryTests {
    /// Returns the inputs that may start now.
    private func started(_ order: inout OrderedDelivery<String>) -> [Int] {
        var inputs: [Int] = []
        while let input = order.start() { inputs.append(input) }
        return inputs
    }

    @Test("Results are delivered in the order of the inputs, and as many inputs run as jobs are allowed")
    func order() {
        var order = OrderedDelivery<String>(count: 5, jobs: 2, window: .max)
        #expect(started(&order) == [0, 1])
        order.add("b", of: 1)
        #expect(order.nextResult() == nil)
        #expect(started(&order) == [2])
        order.add("a", of: 0)
        #expect(order.nextResult() == "a" && order.nextResult() == "b" && order.nextResult() == nil)
        #expect(started(&order) == [3])
        order.add("d", of: 3)
        order.add("c", of: 2)
        #expect(order.nextResult() == "c" && order.nextResult() == "d" && order.nextResult() == nil)
        #expect(started(&order) == [4])
    }

    @Test("While an input is slow, only as many inputs are started as the window allows")
    func window() {
        var order = OrderedDelivery<String>(count: 10_000, jobs: 2, window: 4)
        #expect(started(&order) == [0, 1])
        for input in 1...3 {
            order.add("\(input)", of: input)
            #expect(order.nextResult() == nil)
            #expect(started(&order) == (input < 3 ? [input + 1] : []))
        }
        order.add("0", of: 0)
        for input in 0...3 { #expect(order.nextResult() == "\(input)") }
        #expect(started(&order) == [4, 5])
    }
}
