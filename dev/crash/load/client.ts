import { setTimeout as sleep } from "node:timers/promises";
import { randomFrom } from "../random.ts";
import {
  changeKey,
  createKey,
  deleteKey,
  deleteProvider,
  login,
  logout,
  putProvider,
  readProvider,
  rotateKey,
  useKey,
  useSession,
} from "./accounts.ts";
import { readResponse, replayResponse, respond, switchAgent } from "./agents.ts";
import { readTrace } from "./audit.ts";
import { chat, deleteThread, largeFile, readThread, smallFile } from "./chat.ts";
import { deleteDocument, pushText, readDocument, readText, reprocess, search, uploadDocument } from "./documents.ts";
import { deleteExtraction, extract, readExtraction } from "./extractions.ts";
import { deleteFile, listFiles, readFile, upload } from "./files.ts";
import { setBudget } from "./budgets.ts";
import { exportUser } from "./exports.ts";
import { followRun } from "./follow.ts";
import { askGuarded } from "./guarded.ts";
import {
  cancelStarter,
  failAndRetry,
  startAsking,
  startStoring,
  startChained,
  startListener,
  startStarter,
  startVoted,
} from "./linkedRuns.ts";
import {
  changeMember,
  createMember,
  deleteMember,
  loginMember,
  readMember,
  resetPassword,
  suspendMember,
  useMember,
} from "./members.ts";
import { changeProject, createProject, deleteProject, readProject } from "./projects.ts";
import { setRetention } from "./retention.ts";
import { callHook, cancelRun, cancelSoon, decideApprovals, readApprovals, readRun, startRun } from "./runs.ts";
import type { Action, Session } from "./session.ts";
import { vote } from "./votes.ts";
import { raiseWeights, type Act } from "./weights.ts";
import type { KnownDocument, KnownMember, KnownProject, KnownRun } from "./known.ts";

/** Applies an act to one of the existing things, if there are any. */
async function onOne<T>({ random }: Action, things: readonly T[], act: (thing: T) => Promise<void>): Promise<void> {
  if (things.length > 0) await act(random.pick(things));
}

const acts: Record<Act, (action: Action) => Promise<void>> = {
  newThread: (action) => chat(action),
  // only the last few, so that threads become long and two clients meet in one
  goOn: (action) => onOne(action, action.session.threads.slice(-3), (thread) => chat(action, { thread })),
  withFile: (action) => chat(action, { files: [smallFile(action), smallFile(action)] }),
  withLargeFile: (action) => chat(action, { files: [largeFile(action)] }),
  withUploaded: (action) => onOne(action, action.session.files, (file) => chat(action, { uploaded: [file] })),
  readThread: (action) => onOne(action, action.session.threads.slice(-8), (thread) => readThread(action, thread)),
  deleteThread: (action) => onOne(action, action.session.threads, (thread) => deleteThread(action, thread)),
  upload: (action) => upload(action, smallFile(action)),
  uploadLarge: (action) => upload(action, largeFile(action)),
  readFile: (action) => onOne(action, action.session.files, (file) => readFile(action, file)),
  listFiles,
  deleteFile: (action) => onOne(action, action.session.files, (file) => deleteFile(action, file)),
  respond: (action) => respond(action),
  goOnResponding: (action) => onOne(action, action.session.responses.slice(-3), (one) => respond(action, one)),
  readResponse: (action) => onOne(action, action.session.responses, (one) => readResponse(action, one)),
  replayResponse: (action) => onOne(action, action.session.responses, (one) => replayResponse(action, one)),
  switchAgent: (action) => signedIn(action, (token) => switchAgent(action, token)),
  uploadDocument,
  pushText,
  readDocument: (action) => onDocument(action, readDocument),
  readText: (action) => onDocument(action, readText),
  reprocess: (action) => onDocument(action, reprocess),
  deleteDocument: (action) => onDocument(action, deleteDocument),
  search: (action) => onDocument(action, search),
  extract,
  readExtraction: (action) => onOne(action, action.session.extractions, (one) => readExtraction(action, one)),
  deleteExtraction: (action) => onOne(action, action.session.extractions, (one) => deleteExtraction(action, one)),
  startRun,
  callHook,
  readRun: (action) => onOne(action, action.session.runs.slice(-12), async (run) => void (await readRun(action, run))),
  decideApprovals: (action) => onOne(action, asking(action.session), (run) => decideApprovals(action, run)),
  followRun: (action) => onOne(action, action.session.runs.slice(-4), (run) => followRun(action, run)),
  cancelRun: (action) =>
    onOne(action, action.session.runs.slice(-6), (run) => signedIn(action, (token) => cancelRun(action, run, token))),
  cancelSoon: (action) => signedIn(action, (token) => cancelSoon(action, token)),
  startStarter,
  cancelStarter: (action) => signedIn(action, (token) => cancelStarter(action, token)),
  startListener,
  startVoted,
  startChained,
  startAsking,
  startStoring,
  vote: (action) => onOne(action, voted(action.session).slice(-6), (run) => vote(action, run)),
  failAndRetry: (action) => signedIn(action, (token) => failAndRetry(action, token)),
  askGuarded: (action) => signedIn(action, (token) => askGuarded(action, token)),
  login,
  useSession: (action) => signedIn(action, (token) => useSession(action, token)),
  logout: (action) => signedIn(action, (token) => logout(action, token)),
  createKey: (action) => signedIn(action, async (token) => void (await createKey(action, token))),
  useKey: (action) => onOne(action, usable(action.session), (key) => useKey(action, key)),
  changeKey: (action) =>
    onOne(action, action.session.keys, (key) => signedIn(action, (token) => changeKey(action, key, token))),
  deleteKey: (action) =>
    onOne(action, action.session.keys, (key) => signedIn(action, (token) => deleteKey(action, key, token))),
  createProjectKey: (action) => onProject(action, async ({ id }, token) => void (await createKey(action, token, id))),
  rotateKey: (action) =>
    onOne(action, action.session.keys, (key) => signedIn(action, (token) => rotateKey(action, key, token))),
  useEnded,
  createMember: (action) => signedIn(action, (token) => createMember(action, token)),
  loginMember: (action) => onOne(action, action.session.members, (member) => loginMember(action, member)),
  useMember: (action) =>
    onOne(action, action.session.members, (member) =>
      member.tokens.length > 0 ? useMember(action, member) : loginMember(action, member),
    ),
  readMember: (action) => onMember(action, (member, token) => readMember(action, member, token)),
  changeMember: (action) => onMember(action, thenUse(action, changeMember), isThere),
  suspendMember: (action) => onMember(action, (member, token) => suspendMember(action, member, token), isThere),
  resetPassword: (action) => onMember(action, thenUse(action, resetPassword), isThere),
  deleteMember: (action) => onMember(action, thenUse(action, deleteMember), isThere),
  createProject: (action) => signedIn(action, (token) => createProject(action, token)),
  readProject: (action) => onProject(action, (project, token) => readProject(action, project, token)),
  changeProject: (action) => onProject(action, (project, token) => changeProject(action, project, token), isThere),
  deleteProject: (action) => onProject(action, (project, token) => deleteProject(action, project, token), isThere),
  exportUser: (action) => signedIn(action, (token) => exportUser(action, token)),
  setBudget: (action) => signedIn(action, (token) => setBudget(action, token)),
  setRetention: (action) => signedIn(action, (token) => setRetention(action, token)),
  putProvider: (action) => signedIn(action, (token) => putProvider(action, token)),
  readProvider: (action) =>
    onOne(action, action.session.providers, (name) => signedIn(action, (token) => readProvider(action, name, token))),
  deleteProvider: (action) =>
    onOne(action, action.session.providers, (name) => signedIn(action, (token) => deleteProvider(action, name, token))),
};

const onDocument = (action: Action, act: (action: Action, document: KnownDocument) => Promise<void>) =>
  onOne(action, action.session.documents, (document) => act(action, document));
/** The latest runs with approvals. */
const asking = ({ runs }: Session): KnownRun[] => runs.filter(({ asks }) => asks).slice(-8);
const voted = ({ linkedRuns }: Session) => linkedRuns.filter(({ kind }) => kind === "voted");
type Managing<T> = (thing: T, token: string) => Promise<void>;
const isThere = ({ gone }: { gone: boolean }): boolean => !gone;
const onMember = (action: Action, act: Managing<KnownMember>, which: (member: KnownMember) => boolean = () => true) =>
  onOne(action, action.session.members.filter(which), (member) => signedIn(action, (token) => act(member, token)));
/** The member uses the session right afterwards, on the other http process. */
const thenUse =
  (action: Action, act: (action: Action, member: KnownMember, token: string) => Promise<void>): Managing<KnownMember> =>
  async (member, token) => {
    await act(action, member, token);
    await useMember({ ...action, id: `${action.id}-use` }, member);
  };
const onProject = (
  action: Action,
  act: Managing<KnownProject>,
  which: (project: KnownProject) => boolean = () => true,
) =>
  onOne(action, action.session.projects.filter(which), (project) => signedIn(action, (token) => act(project, token)));
const usable = ({ keys }: Pick<Session, "keys">) => keys.filter(({ secret }) => secret !== undefined);

/** Uses ended credentials. */
async function useEnded(action: Action): Promise<void> {
  const { endedKeys, endedTokens } = action.session;
  if (action.random.chance(0.7)) await onOne(action, usable({ keys: endedKeys }), (key) => useKey(action, key));
  else await onOne(action, endedTokens, (token) => useSession(action, token));
}

async function signedIn(action: Action, act: (token: string) => Promise<void>): Promise<void> {
  if (action.session.token) await act(action.session.token);
}

/** The first operations of every client, which prepare things for later ones. */
const FIRST: Act[] = ["createMember", "useMember", "createProject", "createProjectKey"];
const THINK_MS = 250;
/** Maximum turns per client whose traces are read. */
const TRACES = 6;

interface ClientOptions {
  favoured: readonly Act[];
  stopped(): boolean;
}

/** One client: performs one operation after the other until it is stopped. */
export async function runClient(seed: number, session: Session, { favoured, stopped }: ClientOptions): Promise<void> {
  const weights = raiseWeights(favoured);
  const action = (n: number): Action => {
    const id = `${seed}-${session.client}-${n}`;
    return { id, session, random: randomFrom(seed, "act", session.client, n) };
  };
  await login(action(0));
  for (let n = 1; !stopped(); n++) {
    const now = action(n);
    await acts[FIRST[n - 1] ?? now.random.weighted(weights)](now);
    await sleep(now.random.next() * THINK_MS);
  }
}

/** Reads everything once more when all is quiet. */
export async function readEverything(seed: number, session: Session): Promise<void> {
  let n = 0;
  const action = (): Action => ({
    id: `${seed}-${session.client}-end-${n++}`,
    session,
    random: randomFrom(seed, "end", session.client, n),
  });
  // the partner shares these threads: each client reads every second one
  const mine = session.threads.filter((_, index) => index % 2 === session.client % 2);
  for (const thread of mine) await readThread(action(), thread);
  for (const file of session.files) await readFile(action(), file);
  const ours = session.documents.filter((_, index) => index % 2 === session.client % 2);
  for (const document of ours) {
    await readDocument(action(), document);
    await search(action(), document);
  }
  for (const response of session.responses) await readResponse(action(), response);
  for (const extraction of session.extractions) await readExtraction(action(), extraction);
  for (const run of session.runs.filter((_, index) => index % 2 === session.client % 2)) {
    await readRun(action(), run);
    if (run.asks) await readApprovals(action(), run.id);
  }
  for (const { id, kind } of session.linkedRuns.filter((_, index) => index % 2 === session.client % 2)) {
    await readRun(action(), { id, hook: undefined });
    if (kind === "voted") await readApprovals(action(), id);
  }
  for (const key of [...usable(session), ...usable({ keys: session.endedKeys })]) await useKey(action(), key);
  for (const token of session.endedTokens) await useSession(action(), token);
  for (const member of session.members) await useMember(action(), member);
  await listFiles(action());
  if (!session.token) return;
  const { token } = session;
  if (session.client % 4 === 0) await exportUser(action(), token);
  for (const name of session.providers) await readProvider(action(), name, token);
  for (const member of session.members) await readMember(action(), member, token);
  for (const project of session.projects) await readProject(action(), project, token);
  for (const answered of action().random.some(session.answered, TRACES)) await readTrace(action(), answered, token);
}
