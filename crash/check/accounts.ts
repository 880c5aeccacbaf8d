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

/** Something that is read as its only user made it last. */
interface Shown {
  made: What[];
  read: What;
  name(operation: Operation): string | undefined;
  /** What is shown of it. */
  shows(facts: Operation["got"]): unknown;
}
const PROVIDERS: Shown = {
  made: ["provider.put", "provider.delete"],
  read: "provider.read",
  name: ({ asked }) => asked["name"],
  shows: ({ models }) => models,
};
const MEMBERS: Shown = {
  made: ["member.create", "member.change", "member.delete"],
  read: "member.read",
  name: ({ asked, got }) => asked["member_id"] ?? got["member_id"],
  shows: ({ role, active }) => ({ role, active }),
};
const PROJECTS: Shown = {
  made: ["project.create", "project.change", "project.delete"],
  read: "project.read",
  name: ({ asked, got }) => asked["project_id"] ?? got["project_id"],
  shows: ({ name }) => name,
};

function checkShown({ operations }: Evidence, { made, read, name, shows }: Shown): Finding[] {
  const mine = operations.filter((one) => (made.includes(one.what) || one.what === read) && name(one) !== undefined);
  return [...grouped(mine, (operation) => name(operation)!)].flatMap(([, story]) => {
    let stands: string | null | undefined = null;
    return story.flatMap((operation): Finding[] => {
      const { what, outcome, asked, got, code } = operation;
      if (what !== read) {
        const next = what.endsWith(".delete") ? null : JSON.stringify(shows({ ...asked, ...got }));
        if (outcome === "done") stands = next;
        else if (outcome === "unknown") stands = undefined;
        return [];
      }
      if (outcome === "unknown" || stands === undefined || code === "invalid_session") return [];
      const shown = outcome === "done" ? JSON.stringify(shows(got)) : null;
      return shown === stands
        ? []
        : [different("I16", about(operation), `shows ${shown}, as it was made last it is ${stands}`)];
    });
  });
}

/** What was acknowledged is what was asked for. */
const checkAcknowledged = ({ operations }: Evidence): Finding[] =>
  operations
    .filter(({ what, outcome }) => outcome === "done" && /^(member|project|provider)\.(create|change|put)$/.test(what))
    .flatMap((operation) =>
      ["role", "active", "name", "models"].flatMap((field) => {
        const [asked, got] = [operation.asked[field], operation.got[field]].map((value) => JSON.stringify(value));
        return operation.asked[field] === undefined || operation.got[field] === undefined || asked === got
          ? []
          : [different("I1", about(operation), `${asked} was asked for, ${got} acknowledged`)];
      }),
    );

/** I16 for credentials: a key, a session, a provider, a member and a project are what their only user made of them last. */
export const checkAccounts = (evidence: Evidence): Finding[] => [
  ...checkKind(evidence, KEYS),
  ...checkKind(evidence, SESSIONS),
  ...[PROVIDERS, MEMBERS, PROJECTS].flatMap((shown) => checkShown(evidence, shown)),
  ...checkAcknowledged(evidence),
];
