// SPDX-License-Identifier: MIT

import Testing
import WebImageConcurrency
import WebImageHTTPTesting
import WebImageTestSupport

@Suite("Weak table and first result", .timeLimit(.minutes(5)))
struct WeakTableTests {
    private final class Object {}

    @Test("Objects and their notes are found as long as another owner retains the object")
    func finds() {
        var table = WeakTable<String, Object, Int>()
        var object: Object? = Object()
        if let object { table.insert(object, for: "a", note: 7) }
        #expect(table["a"]?.object === object)
        #expect(table["a"]?.note == 7)
        object = nil
        #expect(table["a"] == nil)
        #expect(table.objects.isEmpty)
        // The entry itself remains until it's removed or pruned.
        #expect(table.count == 1)
        #expect(table.remove("a")?.note == 7)
        #expect(table.isEmpty)
    }

    @Test("The table grows only with the number of living objects")
    func prunes() {
        var table = WeakTable<Int, Object, Int>(smallestLimit: 8)
        let living = (0..<5).map { _ in Object() }
        var forgotten: [Int] = []
        for (number, object) in living.enumerated() { table.insert(object, for: number, note: number) }
        for number in 5..<1_000 {
            table.insert(Object(), for: number, note: number) { key, note in
                #expect(key == note)
                forgotten.append(key)
            }
            #expect(table.count <= 17)
        }
        #expect(table.objects.count == 5)
        #expect(!forgotten.contains { $0 < 5 })
        #expect(Set(forgotten).count == forgotten.count)
        withExtendedLifetime(living) {}
    }

    @Test("The first non-nil result wins, the other operations are canceled, and the caller doesn't wait for them")
    func firstOfSome() async {
        let cancelled = TestGate()
        let questions: [@Sendable () async -> Int?] = [
            { nil },
            {
                let never = TestGate()
                await withTaskCancellationHandler {
                    await never.wait()
                } onCancel: {
                    cancelled.open()
                }
                return 1
            },
            { 2 },
        ]
        let answer = await firstResult(of: questions)
        #expect(answer == 2)
        await cancelled.wait()
    }

    @Test("If no operation has a result, `firstAnswer` returns `nil`")
    func noAnswer() async {
        let questions: [@Sendable () async -> Int?] = [{ nil }, { nil }]
        #expect(await firstResult(of: questions) == nil)
        #expect(await firstResult(of: Array(questions.dropFirst(2))) == nil)
    }
}
