// SPDX-License-Identifier: MIT

import Testing
import WebImageHTTPCases
import WebImageTestSupport

@Suite("Rules of the HTTP client's cache")
struct CacheRulesTests {
    static let all = HTTPCases.all

    @Test("Each rule holds with an in-process server", arguments: all)
    func inProcess(_ subject: CacheCase) async {
        let calendar = ManualCalendar()
        await CaseRunner(subject.policy, InProcessServer(calendar), calendar).run(subject)
    }

    @Test("There are at least 150 rules, and each has a unique name")
    func names() {
        #expect(Self.all.count >= 150)
        #expect(Set(Self.all.map(\.name)).count == Self.all.count)
    }
}
