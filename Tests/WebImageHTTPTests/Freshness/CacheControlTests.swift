// SPDX-License-Identifier: MIT

import Testing
import WebImageHTTP

@Suite("Cache-Control")
struct CacheControlTests {
    @Test(
        "The max-age directive is parsed as RFC 9111 specifies",
        arguments: [
            ("max-age=60", 60), ("MAX-AGE=60", 60), ("max-age=\"60\"", 60), ("public , max-age=60", 60),
            ("max-age=60, max-age=30", 30), ("max-age", 0), ("max-age=", 0), ("max-age=-5", 0), ("max-age=1.5", 0),
            ("max-age='60'", 0), ("max-age=abc", 0), ("max-age=99999999999999999999999", CacheControl.longest),
            ("max-age=0060", 60), ("ext=\"max-age=5\", max-age=60", 60), ("ext=\"a\\\", max-age=5\", max-age=60", 60),
        ])
    func maxAge(_ text: String, _ expected: Int) {
        #expect(CacheControl(text).maxAge == expected)
    }

    @Test(
        "Unknown directives are ignored", arguments: ["", ",,", "foo", "max age=5", "s-maxage=5", "=5"])
    func unknown(_ text: String) {
        #expect(CacheControl(text).maxAge == nil)
        #expect(!CacheControl(text).noStore)
    }

    @Test("Flags are parsed in any case and on any line, and field lists restrict no-cache to those fields")
    func flags() {
        let control = CacheControl(
            HTTPHeaderFields([
                .init(name: "cache-control", value: "No-Store, must-understand"),
                .init(name: "Cache-Control", value: "no-cache=\"Set-Cookie, X\", immutable, must-revalidate"),
            ]))
        #expect(control.noStore && control.mustUnderstand && control.immutable && control.mustRevalidate)
        #expect(!control.noCache)
        #expect(control.noCacheHeaders == ["Set-Cookie", "X"])
        #expect(CacheControl("no-cache").noCache)
        #expect(CacheControl("max-stale").maxStale == CacheControl.longest)
        #expect(CacheControl("max-stale=5").maxStale == 5)
    }

    @Test("Entity tags are compared as RFC 9110 specifies")
    func entityTags() {
        #expect(EntityTag("\"a\"")?.isStronglyEqual(EntityTag(opaque: "a")) == true)
        #expect(EntityTag("W/\"a\"")?.isStronglyEqual(EntityTag(opaque: "a")) == false)
        #expect(EntityTag("W/\"a\"")?.isWeaklyEqual(EntityTag(opaque: "a")) == true)
        #expect(EntityTag("W/\"a\"")?.description == "W/\"a\"")
        for text in ["", "a", "\"", "w/\"a\"", "\"a", "\"a\"b\"", "W/a", "\"a b\""] {
            #expect(EntityTag(text) == nil, "\(text)")
        }
    }
}
