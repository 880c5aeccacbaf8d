import type { Operation, OperationKind } from "../journal.ts";
import { grouped, type Evidence } from "./evidence.ts";
import { different, lost, type Finding } from "./finding.ts";

type Permission = boolean | "perhaps";
interface Kind {
  made: OperationKind[];
  used: OperationKind;
  /** Whether the credential must work after this operation. */
  after(operation: Operation): boolean;
  name(operation: Operation): string;
  works(use: Operation): boolean;
}

const isDone = ({ outcome }: Operation): boolean => outcome === "done";

const KEYS: Kind = {
  made: ["key.create", "key.change", "key.delete"],
  used: "key.use",
  after: ({ what, asked }) => what === "key.create" || (what === "key.change" && asked["enabled"]),
  name: ({ asked, got }) => asked["key_id"] ?? got["key_id"],
  works: isDone,
};
const SESSIONS: Kind = {
  made: ["login", "logout"],
  used: "session.use",
  after: ({ what }) => what === "login",
  name: ({ asked, got }) => asked["token"] ?? got["token"],
  works: isDone,
};
/** Agents' APIs, tested by requesting a response that does not exist. */
const AGENTS: Kind = {
  made: ["agent.enable", "agent.disable"],
  used: "agent.use",
  after: ({ what }) => what === "agent.enable",
  name: ({ asked }) => asked["agent_id"],
  works: ({ code }) => code === "response_not_found",
};

/** Whether a credential must work after its only user's operations; an unknown outcome leaves it open. */
function allowed(history: Operation[], kind: Kind): Permission {
  return history.reduce<Permission>((before, operation) => {
    const now = kind.after(operation);
    if (operation.outcome === "done") return now;
    return operation.outcome === "refused" || before === now ? before : "perhaps";
  }, false);
}

function checkKind({ operations }: Evidence, kind: Kind): Finding[] {
  const mine = operations.filter(({ what }) => kind.made.includes(what) || what === kind.used);
  return [...grouped(mine, (operation) => String(kind.name(operation)))].flatMap(([, history]) =>
    history.flatMap((use, n): Finding[] => {
      if (use.what !== kind.used || use.outcome === "unknown") return [];
      const may = allowed(
        history.slice(0, n).filter(({ what }) => what !== kind.used),
        kind,
      );
      const works = kind.works(use);
      if (may === "perhaps" || may === works) return [];
      return [
        works ? different("I16", use, "works although it was ended") : lost("I16", use, `is refused with ${use.code}`),
      ];
    }),
  );
}

/** A thing that must read as its only user last changed it. */
interface Shown {
  made: OperationKind[];
  read: OperationKind;
  name(operation: Operation): string | undefined;
  /** Its visible fields. */
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
  return [...grouped(mine, (operation) => name(operation)!)].flatMap(([, history]) => {
    let current: string | null | undefined = null;
    return history.flatMap((operation): Finding[] => {
      const { what, outcome, asked, got, code } = operation;
      if (what !== read) {
        const next = what.endsWith(".delete") ? null : JSON.stringify(shows({ ...asked, ...got }));
        if (outcome === "done") current = next;
        else if (outcome === "unknown") current = undefined;
        return [];
      }
      if (outcome === "unknown" || current === undefined || code === "invalid_session") return [];
      const shown = outcome === "done" ? JSON.stringify(shows(got)) : null;
      return shown === current
        ? []
        : [different("I16", operation, `shows ${shown}, the last change made it ${current}`)];
    });
  });
}

/** Checks that the acknowledged state is the requested one. */
const checkAcknowledged = ({ operations }: Evidence): Finding[] =>
  operations
    .filter(({ what, outcome }) => outcome === "done" && /^(member|project|provider)\.(create|change|put)$/.test(what))
    .flatMap((operation) =>
      ["role", "active", "name", "models"].flatMap((field) => {
        const [asked, got] = [operation.asked[field], operation.got[field]].map((value) => JSON.stringify(value));
        return operation.asked[field] === undefined || operation.got[field] === undefined || asked === got
          ? []
          : [different("I1", operation, `${asked} was asked for, ${got} acknowledged`)];
      }),
    );

/** I16 for credentials: a key, a session, a provider, a member and a project have the state that their only user last set. */
export const checkAccounts = (evidence: Evidence): Finding[] => [
  ...checkKind(evidence, KEYS),
  ...checkKind(evidence, SESSIONS),
  ...checkKind(evidence, AGENTS),
  ...[PROVIDERS, MEMBERS, PROJECTS].flatMap((shown) => checkShown(evidence, shown)),
  ...checkAcknowledged(evidence),
];
