import { expect, test } from "vitest";
import { ErasureAdvanced, ErasureCompleted, ErasureStarted, NOTHING_ERASED } from "#events/erasure.ts";
import { command, given } from "#test/given.ts";
import { erasure } from "./erasure.ts";

const id = { erasure_id: "0198c0de-0000-7000-8000-00000000000a" };
const owner = "key:0198c0de-0000-7000-8000-00000000000b";
const started = ErasureStarted.of({ ...id, owner });
const counts = { ...NOTHING_ERASED, threads: 50, files: 2, runs: 7 };
const first = ErasureAdvanced.of({ ...id, ...counts });
/** An event of releases that did not erase runs, documents and extractions. */
const old = ErasureAdvanced.of({ ...id, threads: 50, files: 2 });
const completed = ErasureCompleted.of(id);

test("an erasure starts once, counts what was deleted, and completes once", () => {
  const start = { ...id, owner, kinds: ["threads" as const, "runs" as const] };
  given(erasure).when(command("StartErasure", start)).then(ErasureStarted.of(start));
  const some = { ...start, kinds: ["runs"] as ["runs"] };
  given(erasure).when(command("EraseOwner", some)).then(ErasureStarted.of(some));
  given(erasure, [started]).when(command("StartErasure", start)).rejected("already_exists");
  const advance = command("AdvanceErasure", { ...id, threads: 3, files: 1, runs: 1, documents: 4, extractions: 5 });
  given(erasure, [started, first])
    .when(advance)
    .then(ErasureAdvanced.of({ ...id, threads: 53, files: 3, runs: 8, documents: 4, extractions: 5 }));
  given(erasure, [started, old])
    .when(advance)
    .then(ErasureAdvanced.of({ ...id, threads: 53, files: 3, runs: 1, documents: 4, extractions: 5 }));
  given(erasure, [started, first]).when(command("CompleteErasure", id)).then(completed);
  given(erasure, [started, first, completed]).when(command("CompleteErasure", id)).then();
  given(erasure, [started, first, completed]).when(advance).then();
  given(erasure).when(advance).then();
});

test("things that a killed process deleted without recording them are counted at the end, and nothing twice", () => {
  const complete = (deleted: object) => command("CompleteErasure", { ...id, deleted: { ...counts, ...deleted } });
  given(erasure, [started, first]).when(complete({})).then(completed);
  given(erasure, [started, first])
    .when(complete({ threads: 80, documents: 1 }))
    .then(ErasureAdvanced.of({ ...id, ...counts, threads: 80, documents: 1 }), completed);
  // an older release deleted some of them without the erasure's request id
  given(erasure, [started, first])
    .when(complete({ threads: 10 }))
    .then(completed);
});

test("an erasure is open work until it is completed", () => {
  const statusAfter = (...events: Parameters<typeof given>[1] & object) =>
    erasure.workStatus!(given(erasure, events).state).status;
  expect(statusAfter(started, first)).toBe("erasing");
  expect(statusAfter(started, completed)).toBeNull();
  expect(statusAfter()).toBeNull();
});
