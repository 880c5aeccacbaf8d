import { createHash } from "node:crypto";
import { login } from "./accounts.ts";
import { perform, type Doing } from "./session.ts";

const PAGE = 500;

/** What an organization's owner looks into. */
interface Owner {
  organization_id: string;
  admin: { email: string; password: string };
}

export const digestOf = (value: unknown): string => createHash("sha256").update(JSON.stringify(value)).digest("hex");

/** An event as the page has it; of what is personal only a digest, which tells as much. */
const shown = ({ personal, ...event }: any) => ({ ...event, personal: personal && digestOf(personal) });

/** Every page of the organization's events. */
async function readEvents(
  doing: Doing,
  { organization_id, head, token }: { organization_id: string; head: number; token: string },
) {
  for (let [n, after] = [0, 0]; ; n++) {
    const { outcome, got } = await perform(
      { ...doing, id: `${doing.id}-page-${n}` },
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

/** Reads what the organization is told of all that has happened in it; `head` is where the log ends. */
export async function readAudit(doing: Doing, { organization_id, admin }: Owner, head: number): Promise<void> {
  const { id, session } = doing;
  const owner: Doing = { ...doing, session: { ...session, admin, token: undefined } };
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
}

/** Reads the trace of a turn that was answered, `chatcmpl-…` or `resp_…`. */
export async function readTrace(doing: Doing, answered: string, token: string): Promise<void> {
  await perform(doing, {
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
