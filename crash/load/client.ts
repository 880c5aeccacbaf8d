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
import { readResponse, replayResponse, respond } from "./agents.ts";
import { readTrace } from "./audit.ts";
import { chat, deleteThread, largeFile, readThread, smallFile } from "./chat.ts";
import {
  deleteDocument,
  pushText,
  readDocument,
  readText,
  reprocess,
  search,
  uploadDocument,
  type KnownDocument,
} from "./documents.ts";
import { deleteExtraction, extract, readExtraction } from "./extractions.ts";
import { deleteFile, listFiles, readFile, upload } from "./files.ts";
import { followRun } from "./follow.ts";
import {
  changeMember,
  createMember,
  deleteMember,
  loginMember,
  readMember,
  resetPassword,
  suspendMember,
  useMember,
  type KnownMember,
} from "./members.ts";
import { changeProject, createProject, deleteProject, readProject, type KnownProject } from "./projects.ts";
import {
  attendApprovals,
  callHook,
  cancelRun,
  cancelSoon,
  readApprovals,
  readRun,
  startRun,
  type KnownRun,
} from "./runs.ts";
import type { Doing, Session } from "./session.ts";

/** What a client does, by how often. What it cannot do yet (delete a file without having one) it leaves out. */
const WEIGHTS = {
  newThread: 18,
  goOn: 20,
  withFile: 5,
  withLargeFile: 2,
  withUploaded: 3,
  readThread: 10,
  deleteThread: 3,
  upload: 7,
  uploadLarge: 2,
  readFile: 6,
  listFiles: 3,
  deleteFile: 3,
  respond: 10,
  goOnResponding: 6,
  readResponse: 4,
  replayResponse: 3,
  uploadDocument: 8,
  pushText: 3,
  readDocument: 6,
  readText: 2,
  reprocess: 3,
  deleteDocument: 3,
  search: 10,
  extract: 3,
  readExtraction: 3,
  deleteExtraction: 1,
  startRun: 8,
  callHook: 16,
  readRun: 8,
  attendApprovals: 12,
  followRun: 4,
  cancelRun: 2,
  cancelSoon: 2,
  login: 1,
  useSession: 2,
  logout: 0.5,
  createKey: 2,
  useKey: 4,
  changeKey: 2,
  deleteKey: 1,
  createProjectKey: 3,
  rotateKey: 3,
  useEnded: 3,
  createMember: 4,
  loginMember: 3,
  useMember: 8,
  readMember: 2,
  changeMember: 5,
  suspendMember: 4,
  resetPassword: 1,
  deleteMember: 1,
  createProject: 3,
  readProject: 3,
  changeProject: 2,
  deleteProject: 1,
  putProvider: 2,
  readProvider: 2,
  deleteProvider: 1,
};
type Act = keyof typeof WEIGHTS;

/** Runs an act on one of the things there are; nothing without any. */
async function onOne<T>({ random }: Doing, things: readonly T[], act: (thing: T) => Promise<void>): Promise<void> {
  if (things.length > 0) await act(random.pick(things));
}

const acts: Record<Act, (doing: Doing) => Promise<void>> = {
  newThread: (doing) => chat(doing),
  // the last few, so that threads get long and two clients meet in one
  goOn: (doing) => onOne(doing, doing.session.threads.slice(-3), (thread) => chat(doing, { thread })),
  withFile: (doing) => chat(doing, { files: [smallFile(doing), smallFile(doing)] }),
  withLargeFile: (doing) => chat(doing, { files: [largeFile(doing)] }),
  withUploaded: (doing) => onOne(doing, doing.session.files, (file) => chat(doing, { uploaded: [file] })),
  readThread: (doing) => onOne(doing, doing.session.threads.slice(-8), (thread) => readThread(doing, thread)),
  deleteThread: (doing) => onOne(doing, doing.session.threads, (thread) => deleteThread(doing, thread)),
  upload: (doing) => upload(doing, smallFile(doing)),
  uploadLarge: (doing) => upload(doing, largeFile(doing)),
  readFile: (doing) => onOne(doing, doing.session.files, (file) => readFile(doing, file)),
  listFiles,
  deleteFile: (doing) => onOne(doing, doing.session.files, (file) => deleteFile(doing, file)),
  respond: (doing) => respond(doing),
  goOnResponding: (doing) => onOne(doing, doing.session.responses.slice(-3), (one) => respond(doing, one)),
  readResponse: (doing) => onOne(doing, doing.session.responses, (one) => readResponse(doing, one)),
  replayResponse: (doing) => onOne(doing, doing.session.responses, (one) => replayResponse(doing, one)),
  uploadDocument,
  pushText,
  readDocument: (doing) => onDocument(doing, readDocument),
  readText: (doing) => onDocument(doing, readText),
  reprocess: (doing) => onDocument(doing, reprocess),
  deleteDocument: (doing) => onDocument(doing, deleteDocument),
  search: (doing) => onDocument(doing, search),
  extract,
  readExtraction: (doing) => onOne(doing, doing.session.extractions, (one) => readExtraction(doing, one)),
  deleteExtraction: (doing) => onOne(doing, doing.session.extractions, (one) => deleteExtraction(doing, one)),
  startRun,
  callHook,
  readRun: (doing) => onOne(doing, doing.session.runs.slice(-12), (run) => readRun(doing, run)),
  attendApprovals: (doing) => onOne(doing, asking(doing.session), (run) => attendApprovals(doing, run)),
  followRun: (doing) => onOne(doing, doing.session.runs.slice(-4), (run) => followRun(doing, run)),
  cancelRun: (doing) =>
    onOne(doing, doing.session.runs.slice(-6), (run) => signedIn(doing, (token) => cancelRun(doing, run, token))),
  cancelSoon: (doing) => signedIn(doing, (token) => cancelSoon(doing, token)),
  login,
  useSession: (doing) => signedIn(doing, (token) => useSession(doing, token)),
  logout: (doing) => signedIn(doing, (token) => logout(doing, token)),
  createKey: (doing) => signedIn(doing, async (token) => void (await createKey(doing, token))),
  useKey: (doing) => onOne(doing, usable(doing.session), (key) => useKey(doing, key)),
  changeKey: (doing) =>
    onOne(doing, doing.session.keys, (key) => signedIn(doing, (token) => changeKey(doing, key, token))),
  deleteKey: (doing) =>
    onOne(doing, doing.session.keys, (key) => signedIn(doing, (token) => deleteKey(doing, key, token))),
  createProjectKey: (doing) => onProject(doing, async ({ id }, token) => void (await createKey(doing, token, id))),
  rotateKey: (doing) =>
    onOne(doing, doing.session.keys, (key) => signedIn(doing, (token) => rotateKey(doing, key, token))),
  useEnded,
  createMember: (doing) => signedIn(doing, (token) => createMember(doing, token)),
  loginMember: (doing) => onOne(doing, doing.session.members, (member) => loginMember(doing, member)),
  useMember: (doing) =>
    onOne(doing, doing.session.members, (member) =>
      member.tokens.length > 0 ? useMember(doing, member) : loginMember(doing, member),
    ),
  readMember: (doing) => onMember(doing, (member, token) => readMember(doing, member, token)),
  changeMember: (doing) => onMember(doing, thenUse(doing, changeMember), isThere),
  suspendMember: (doing) => onMember(doing, (member, token) => suspendMember(doing, member, token), isThere),
  resetPassword: (doing) => onMember(doing, thenUse(doing, resetPassword), isThere),
  deleteMember: (doing) => onMember(doing, thenUse(doing, deleteMember), isThere),
  createProject: (doing) => signedIn(doing, (token) => createProject(doing, token)),
  readProject: (doing) => onProject(doing, (project, token) => readProject(doing, project, token)),
  changeProject: (doing) => onProject(doing, (project, token) => changeProject(doing, project, token), isThere),
  deleteProject: (doing) => onProject(doing, (project, token) => deleteProject(doing, project, token), isThere),
  putProvider: (doing) => signedIn(doing, (token) => putProvider(doing, token)),
  readProvider: (doing) =>
    onOne(doing, doing.session.providers, (name) => signedIn(doing, (token) => readProvider(doing, name, token))),
  deleteProvider: (doing) =>
    onOne(doing, doing.session.providers, (name) => signedIn(doing, (token) => deleteProvider(doing, name, token))),
};

const onDocument = (doing: Doing, act: (doing: Doing, document: KnownDocument) => Promise<void>) =>
  onOne(doing, doing.session.documents, (document) => act(doing, document));
/** The last runs that ask somebody. */
const asking = ({ runs }: Session): KnownRun[] => runs.filter(({ asks }) => asks).slice(-8);
type Managing<T> = (thing: T, token: string) => Promise<void>;
const isThere = ({ gone }: { gone: boolean }): boolean => !gone;
const onMember = (doing: Doing, act: Managing<KnownMember>, which: (member: KnownMember) => boolean = () => true) =>
  onOne(doing, doing.session.members.filter(which), (member) => signedIn(doing, (token) => act(member, token)));
/** The member comes right after it, to the other http process. */
const thenUse =
  (doing: Doing, act: (doing: Doing, member: KnownMember, token: string) => Promise<void>): Managing<KnownMember> =>
  async (member, token) => {
    await act(doing, member, token);
    await useMember({ ...doing, id: `${doing.id}-use` }, member);
  };
const onProject = (doing: Doing, act: Managing<KnownProject>, which: (project: KnownProject) => boolean = () => true) =>
  onOne(doing, doing.session.projects.filter(which), (project) => signedIn(doing, (token) => act(project, token)));
const usable = ({ keys }: Pick<Session, "keys">) => keys.filter(({ secret }) => secret !== undefined);

/** Comes with what has ended. */
async function useEnded(doing: Doing): Promise<void> {
  const { endedKeys, endedTokens } = doing.session;
  if (doing.random.chance(0.7)) await onOne(doing, usable({ keys: endedKeys }), (key) => useKey(doing, key));
  else await onOne(doing, endedTokens, (token) => useSession(doing, token));
}

async function signedIn(doing: Doing, act: (token: string) => Promise<void>): Promise<void> {
  if (doing.session.token) await act(doing.session.token);
}

/** What every client does first, so that there is something for others to be done with. */
const FIRST: Act[] = ["createMember", "useMember", "createProject", "createProjectKey"];
const THINK_MS = 250;
/** Turns of a client whose traces are read. */
const TRACES = 6;

/** One client: acts one after the other until it is told to stop. */
export async function runClient(seed: number, session: Session, stopped: () => boolean): Promise<void> {
  const doing = (n: number): Doing => {
    const id = `${seed}-${session.client}-${n}`;
    return { id, session, random: randomFrom(seed, "act", session.client, n) };
  };
  await login(doing(0));
  for (let n = 1; !stopped(); n++) {
    const now = doing(n);
    await acts[FIRST[n - 1] ?? now.random.weighted(WEIGHTS)](now);
    await sleep(now.random.next() * THINK_MS);
  }
}

/** Reads everything once more, when all is quiet. */
export async function readEverything(seed: number, session: Session): Promise<void> {
  let n = 0;
  const doing = (): Doing => ({
    id: `${seed}-${session.client}-end-${n++}`,
    session,
    random: randomFrom(seed, "end", session.client, n),
  });
  // the partner reads the same threads: each takes every second
  const mine = session.threads.filter((_, index) => index % 2 === session.client % 2);
  for (const thread of mine) await readThread(doing(), thread);
  for (const file of session.files) await readFile(doing(), file);
  const ours = session.documents.filter((_, index) => index % 2 === session.client % 2);
  for (const document of ours) {
    await readDocument(doing(), document);
    await search(doing(), document);
  }
  for (const response of session.responses) await readResponse(doing(), response);
  for (const extraction of session.extractions) await readExtraction(doing(), extraction);
  for (const run of session.runs.filter((_, index) => index % 2 === session.client % 2)) {
    await readRun(doing(), run);
    if (run.asks) await readApprovals(doing(), run.id);
  }
  for (const key of [...usable(session), ...usable({ keys: session.endedKeys })]) await useKey(doing(), key);
  for (const token of session.endedTokens) await useSession(doing(), token);
  for (const member of session.members) await useMember(doing(), member);
  await listFiles(doing());
  if (!session.token) return;
  const { token } = session;
  for (const name of session.providers) await readProvider(doing(), name, token);
  for (const member of session.members) await readMember(doing(), member, token);
  for (const project of session.projects) await readProject(doing(), project, token);
  for (const answered of doing().random.some(session.answered, TRACES)) await readTrace(doing(), answered, token);
}
