import type { Operation, What } from "../journal.ts";
import { grouped, type Evidence } from "./evidence.ts";
import { different, lost, type Finding } from "./finding.ts";

const about = ({ what, id }: Operation): string => `${what} ${id}`;

type Allowed = boolean | "perhaps";
interface Kind {
  made: What[];
  used: What;
  /** Whether the thing may be used once this has been answered. */
  after(operation: Operation): boolean;
  name(operation: Operation): string;
}

const KEYS: Kind = {
  made: ["key.create", "key.change", "key.delete"],
  used: "key.use",
  after: ({ what, asked }) => what === "key.create" || (what === "key.change" && asked["enabled"]),
  name: ({ asked, got }) => asked["key_id"] ?? got["key_id"],
};
const SESSIONS: Kind = {
  made: ["login", "logout"],
  used: "session.use",
  after: ({ what }) => what === "login",
  name: ({ asked, got }) => asked["token"] ?? got["token"],
};

/** Whether a credential works, after all that its only user has done with it; an unknown outcome leaves that open. */
function allowed(history: Operation[], kind: Kind): Allowed {
  return history.reduce<Allowed>((before, operation) => {
    const now = kind.after(operation);
    if (operation.outcome === "done") return now;
    return operation.outcome === "refused" || before === now ? before : "perhaps";
  }, false);
}

function checkKind({ operations }: Evidence, kind: Kind): Finding[] {
  const mine = operations.filter(({ what }) => kind.made.includes(what) || what === kind.used);
  return [...grouped(mine, (operation) => String(kind.name(operation)))].flatMap(([, story]) =>
    story.flatMap((use, n): Finding[] => {
      if (use.what !== kind.used || use.outcome === "unknown") return [];
      const may = allowed(
        story.slice(0, n).filter(({ what }) => what !== kind.used),
        kind,
      );
      const works = use.outcome === "done";
      if (may === "perhaps" || may === works) return [];
      return [
        works
          ? different("I16", about(use), "works although it was ended")
          : lost("I16", about(use), `is refused with ${use.code}`),
      ];
    }),
  );
}

/** A provider is read as it was last put. */
function checkProviders({ operations }: Evidence): Finding[] {
  const mine = operations.filter(({ what }) => what.startsWith("provider."));
  return [...grouped(mine, ({ asked }) => asked["name"])].flatMap(([, story]) => {
    let stands: string | null | undefined = null;
    return story.flatMap((operation): Finding[] => {
      const { what, outcome, asked, got, code } = operation;
      if (what !== "provider.read") {
        const next = what === "provider.put" ? JSON.stringify(asked["models"]) : null;
        if (outcome === "done") stands = next;
        else if (outcome === "unknown") stands = undefined;
        return [];
      }
      if (outcome === "unknown" || stands === undefined || code === "invalid_session") return [];
      const shown = outcome === "done" ? JSON.stringify(got["models"]) : null;
      return shown === stands ? [] : [different("I16", about(operation), `shows ${shown}, last put was ${stands}`)];
    });
  });
}

/** I16 for credentials: a key, a session and a provider are what their only user made of them last. */
export const checkAccounts = (evidence: Evidence): Finding[] => [
  ...checkKind(evidence, KEYS),
  ...checkKind(evidence, SESSIONS),
  ...checkProviders(evidence),
];
