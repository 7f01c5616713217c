// SPDX-License-Identifier: MIT

import Testing
import WebImageConcurrency
import WebImageTestSupport
import WebImageTesting

@Suite("Weak table and first answer", .timeLimit(.minutes(1)))
struct WeakTableTests {
    private final class Object {}

    @Test("objects are found while something else holds them, with their notes")
    func finds() {
        var table = WeakTable<String, Object, Int>()
        var object: Object? = Object()
        if let object { table.insert(object, for: "a", note: 7) }
        #expect(table["a"]?.object === object)
        #expect(table["a"]?.note == 7)
        object = nil
        #expect(table["a"] == nil)
        #expect(table.objects.isEmpty)
        // The entry itself goes when it is removed or pruned.
        #expect(table.count == 1)
        #expect(table.remove("a")?.note == 7)
        #expect(table.isEmpty)
    }

    @Test("the table grows with the number of living objects only")
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

    @Test("the first answer counts, the other questions are canceled, and nothing waits for them")
    func firstOfSome() async {
        let cancelled = Gate()
        let questions: [@Sendable () async -> Int?] = [
            { nil },
            {
                let never = Gate()
                await withTaskCancellationHandler {
                    await never.wait()
                } onCancel: {
                    cancelled.open()
                }
                return 1
            },
            { 2 },
        ]
        let answer = await firstAnswer(of: questions)
        #expect(answer == 2)
        await cancelled.wait()
    }

    @Test("without an answer the result is nil")
    func noAnswer() async {
        let questions: [@Sendable () async -> Int?] = [{ nil }, { nil }]
        #expect(await firstAnswer(of: questions) == nil)
        #expect(await firstAnswer(of: Array(questions.dropFirst(2))) == nil)
    }
}
