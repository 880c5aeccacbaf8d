import { isDeepStrictEqual } from "node:util";
import type { Facts, Operation } from "../journal.ts";
import { PERSONAL } from "../topology.ts";
import { grouped, type Evidence } from "./evidence.ts";
import { different, doubled, lost, type Finding } from "./finding.ts";

/** The end user that a client and its partner share. */
const userOf = ({ client }: Operation): string => `${PERSONAL}-${client >> 1}`;

const repeated = (ids: string[]): string[] => [...grouped(ids, (id) => id).values()].flatMap((own) => own.slice(1));

/** I18: an export lists everything once, and the actual bytes of each file. */
function checkItself(about: string, { counts, announced, threads, turns, files, contents }: Facts): Finding[] {
  const ids = [threads, ...[turns, files].map((ones) => ones.map(({ id }: Facts) => id))].flat();
  return [
    ...(isDeepStrictEqual(counts, announced)
      ? []
      : [different("I18", about, `has ${JSON.stringify(counts)}, its end says ${JSON.stringify(announced)}`)]),
    ...repeated(ids).map((id) => doubled("I18", about, `has ${id} twice`)),
    ...contents
      .filter(({ named, sent }: Facts) => named !== sent)
      .map(({ named }: Facts) => different("I18", about, `has other bytes for ${named}`)),
  ];
}

/** I18: an export contains what was acknowledged before it began, unless its deletion was requested before it ended. */
function checkComplete(read: Operation, operations: Operation[]): Finding[] {
  const { files, turns, contents } = read.got;
  const before = operations.filter(
    (one) => one.outcome === "done" && one.end < read.start && userOf(one) === read.asked["user"],
  );
  const deleted = new Set(
    operations
      .filter(({ what, start }) => (what === "file.delete" || what === "thread.delete") && start < read.end)
      .map(({ asked }) => asked["file_id"] ?? asked["thread"]),
  );
  const stored = new Set(contents.map(({ named }: Facts) => named));
  const texts = new Map<string, string>(turns.map(({ id, text }: Facts) => [id, text]));
  return before.flatMap(({ what, id, asked, got }): Finding[] => {
    if (what === "file.upload" && !deleted.has(got["file_id"])) {
      const isThere = files.some((file: Facts) => file["id"] === got["file_id"] && file["sha256"] === asked["sha256"]);
      return isThere && stored.has(asked["sha256"]) ? [] : [lost("I18", read, `lacks the file of ${id} or its bytes`)];
    }
    if (what !== "chat" || !got["done"] || asked["leaves"] || deleted.has(got["thread_id"])) return [];
    const turn = String(got["ids"][0]).replace("chatcmpl-", "");
    if (texts.get(turn) === undefined) return [lost("I18", read, `lacks the turn of ${id}`)];
    return texts.get(turn) === got["text"] ? [] : [different("I18", read, `has another text for the turn of ${id}`)];
  });
}

/** Exports of everything about an end user. One without its last line says that it is incomplete. */
export const checkExports = ({ operations }: Evidence): Finding[] =>
  operations
    .filter(({ what, outcome, got }) => what === "export.read" && outcome === "done" && got["complete"])
    .flatMap((read) => [...checkItself(`${read.what} ${read.id}`, read.got), ...checkComplete(read, operations)]);
