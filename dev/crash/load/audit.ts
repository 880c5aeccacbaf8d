import { createHash } from "node:crypto";
import { login } from "./accounts.ts";
import { readBudget } from "./budgets.ts";
import { perform, type Action } from "./session.ts";

const PAGE = 500;

/** What an organization's owner reads. */
interface Owner {
  organization_id: string;
  admin: { email: string; password: string };
}

export const digestOf = (value: unknown): string => createHash("sha256").update(JSON.stringify(value)).digest("hex");

/** An event of the page; personal fields only as a digest, which suffices for a comparison. */
const shown = ({ personal, ...event }: any) => ({ ...event, personal: personal && digestOf(personal) });

/** Every page of the organization's events. */
async function readEvents(
  action: Action,
  { organization_id, head, token }: { organization_id: string; head: number; token: string },
) {
  for (let [n, after] = [0, ""]; ; n++) {
    const { outcome, got } = await perform(
      { ...action, id: `${action.id}-page-${n}` },
      {
        what: "audit.events",
        asked: { organization_id, after, head },
        wanted: { method: "GET", path: `/api/events?after=${after}&limit=${PAGE}`, token },
        read: ({ body }) => ({ events: body.data.map(shown), more: body.has_more, next: body.next_after }),
      },
    );
    if (outcome !== "done" || !got["more"]) return;
    after = got["next"];
  }
}

/** Reads every event that the organization may see; `head` is the end of the log. */
export async function readAudit(action: Action, { organization_id, admin }: Owner, head: number): Promise<void> {
  const { id, session } = action;
  const owner: Action = { ...action, session: { ...session, admin, token: undefined } };
  await login({ ...owner, id: `${id}-login` });
  const { token } = owner.session;
  if (!token) return;
  await readEvents(owner, { organization_id, head, token });
  await perform(
    { ...owner, id: `${id}-usage` },
    {
      what: "audit.usage",
      asked: { organization_id },
      wanted: { method: "GET", path: `/api/usage?group_by=model&limit=${PAGE}`, token },
      read: ({ body }) => ({ totals: body.totals, rows: body.data, total: body.total }),
    },
  );
  await readBudget({ ...owner, id: `${id}-budget` }, organization_id, token);
}

/** Reads the trace of an answered turn, `chatcmpl-…` or `resp_…`. */
export async function readTrace(action: Action, answered: string, token: string): Promise<void> {
  await perform(action, {
    what: "audit.trace",
    asked: { turn_id: answered.replace(/^(chatcmpl-|resp_)/, "") },
    wanted: { method: "GET", path: `/api/turns/${answered}/trace`, token },
    read: ({ body: { id, thread_id, status, answer, prompt } }) => ({
      id,
      thread_id,
      status,
      text: answer?.text,
      asked: prompt?.messages.at(-1)?.text,
    }),
  });
}
