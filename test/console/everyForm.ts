import type { Page } from "playwright-core";
import { openReader } from "../knowledge/library.ts";
import type { Console } from "./browser.ts";

/* Every form of the console, where it is, and how it gets there. */

export interface WalkedForm {
  /** The source file with the form, below `console/screens`. */
  file: string;
  path: string;
  /** The submit button. */
  button: string;
  /** Makes the form visible, or enters what the walk cannot guess. */
  prepare?(page: Page): Promise<unknown>;
  /** Parameters of the request that no field enters. */
  fixed?: readonly string[];
  /** The form checks its fields by itself and sends no parameters. */
  sendsNone?: true;
}

const ASK = `export const run = (ctx) => ctx.awaitApproval("boss", {
  title: "May I?",
  form: { type: "object", required: ["amount"], properties: { amount: { type: "number", title: "Amount" } } },
});`;
const STEP = `export const steps = { look: () => 5 };
export const run = (ctx) => ctx.runStep("look", {});`;
const TOOL = `export const meta = {
  name: "looks",
  secrets: ["TOKEN"],
  parameters: { type: "object", required: ["order"], properties: { order: { type: "string", title: "Order" } } },
};
export const execute = () => 1;`;

const unfold = (text: string) => (page: Page) => page.getByText(text, { exact: true }).first().click();

/** The items whose pages have forms. */
/** What the forms need. */
export async function makeItems({ tenant }: Console) {
  const { owner, made } = tenant;
  const { id: me } = (await made(owner("GET", "/auth/me"))).user;
  const { id: member } = await tenant.member("admin", "Mia");
  const agent = await tenant.newAgent();
  const { id: tool } = await made(owner("POST", "/definitions", { type: "tool", source: TOOL }));
  const workflow = await tenant.register(ASK);
  const [approval] = await tenant.pending(await tenant.start(workflow));
  const run = (await tenant.run(STEP)).id;
  const step = (await made(owner("GET", `/workflows/runs/${run}/steps`))).data[0].id;
  const reader = openReader(tenant.url, tenant.credentials.api_key);
  const shelf = await reader.collect("Shelf");
  const { id: document } = (await reader.push(shelf, { name: "one.md", text: "The first." })).body;
  const { id: key } = await tenant.newKey();
  return { me, member, agent, tool, workflow: workflow.id, approval: approval.id, run, step, shelf, document, key };
}
export type Items = Awaited<ReturnType<typeof makeItems>>;

const accountForms = ({ member, key }: Items): WalkedForm[] => [
  { file: "keys/NewKey.tsx", path: "keys/new", button: "Create key", fixed: ["enabled"] },
  {
    file: "keys/KeyPage.tsx",
    path: `keys/${key}`,
    button: "Save",
    prepare: (page) => page.getByLabel("Name").fill("Other"),
  },
  { file: "members/NewMember.tsx", path: "members/new", button: "Add member" },
  {
    file: "members/MemberPage.tsx",
    path: `members/${member}`,
    button: "Save",
    prepare: (page) => page.getByLabel("Name").fill("Other"),
  },
  { file: "settings/Secrets.tsx", path: "settings?section=secrets", button: "Set secret" },
  { file: "settings/Projects.tsx", path: "settings?section=projects", button: "Create project" },
  {
    file: "settings/Providers.tsx",
    path: "settings?section=providers",
    button: "Add provider",
    // fields of the providers of search only
    fixed: ["model", "dimensions"],
  },
  { file: "settings/Groups.tsx", path: "settings?section=groups", button: "Create group" },
  {
    file: "settings/You.tsx",
    path: "settings?section=you",
    button: "Change password",
  },
  { file: "settings/Ocr.tsx", path: "settings?section=you", button: "Set languages" },
  { file: "spending/BudgetForm.tsx", path: "spending", button: "Set budget" },
  { file: "spending/PriceForm.tsx", path: "spending?section=prices", button: "Set price" },
  {
    file: "spending/AliasForm.tsx",
    path: "spending?section=aliases",
    button: "Add alias",
  },
];

const privacyForms = ({ member }: Items): WalkedForm[] => {
  const subject = `subject=person:${member}`;
  return [
    { file: "privacy/Exports.tsx", path: "privacy?section=exports", button: "Export", sendsNone: true },
    { file: "privacy/Contents.tsx", path: "privacy?section=contents", button: "Show", sendsNone: true },
    {
      file: "privacy/Erasures.tsx",
      path: `privacy?section=erasures&${subject}`,
      button: "Erase for good",
      prepare: (page) => page.getByLabel(/^Type/).fill("erase"),
    },
    {
      file: "privacy/RetentionForm.tsx",
      path: "privacy",
      button: "Preview",
      prepare: (page) => page.getByLabel(/^Keep conversations/).fill("30 days"),
    },
    {
      file: "privacy/Holds.tsx",
      path: `privacy?section=holds&${subject}`,
      button: "Place hold",
      prepare: async (page) => {
        await page.getByRole("textbox", { name: "Name" }).fill("Case 7");
        await page.getByLabel("Reason").fill("A letter of a lawyer");
      },
    },
  ];
};

const knowledgeForms = ({ shelf, document }: Items): WalkedForm[] => [
  { file: "knowledge/Knowledge.tsx", path: "knowledge", button: "Create collection" },
  {
    file: "knowledge/SearchBox.tsx",
    path: "knowledge?tags=hr",
    button: "Search",
    sendsNone: true,
  },
  {
    file: "knowledge/CollectionForms.tsx",
    path: `knowledge/${shelf}`,
    button: "Add text",
    prepare: unfold("Write a text"),
  },
  { file: "knowledge/NewSource.tsx", path: `knowledge/${shelf}/sources`, button: "Add source", fixed: ["kind"] },
  {
    file: "document/DetailsForm.tsx",
    path: `knowledge/documents/${document}`,
    button: "Save details",
    prepare: async (page) => {
      await page.getByText("Details, readers and your own metadata").click();
      await page.getByLabel("Name", { exact: true }).fill("other.md");
      await page.getByLabel(/^Tags/).fill("hr");
    },
  },
  {
    file: "document/ReadersForm.tsx",
    path: `knowledge/documents/${document}`,
    button: "Save readers",
    prepare: async (page) => {
      await page.getByText("Details, readers and your own metadata").click();
      await page.getByLabel("Reader", { exact: true }).selectOption("role:owner");
    },
  },
];

const agentForms = ({ agent, tool }: Items): WalkedForm[] => [
  { file: "agents/NewAgent.tsx", path: "agents/new", button: "Create agent", fixed: ["tool_approvals"] },
  {
    file: "agents/AgentPage.tsx",
    path: `agents/${agent}`,
    button: "Save",
    prepare: (page) => page.getByLabel("Instructions").fill("Other"),
  },
  { file: "agents/TryAgent.tsx", path: `agents/${agent}`, button: "Ask", sendsNone: true },
  { file: "definition/TryTool.tsx", path: `definitions/${tool}`, button: "Call the tool", sendsNone: true },
  {
    file: "definition/Grants.tsx",
    path: `definitions/${tool}`,
    button: "Save grants",
    prepare: (page) => page.getByLabel("TOKEN").check(),
  },
];

const workflowForms = ({ workflow, approval, run, step }: Items): WalkedForm[] => [
  { file: "definition/RunForm.tsx", path: `workflows/${workflow}`, button: "Start a run" },
  {
    file: "workflows/NewWebhook.tsx",
    path: `workflows/${workflow}`,
    button: "Add webhook",
  },
  { file: "workflows/EnvelopeForm.tsx", path: `workflows/${workflow}`, button: "Save rules" },
  { file: "schedules/NewSchedule.tsx", path: `schedules?workflow=${workflow}`, button: "Add schedule" },
  { file: "events/Events.tsx", path: "events", button: "Send event" },
  {
    file: "run/ForkForm.tsx",
    path: `runs/${run}?step=${step}`,
    button: "Start the new run",
    prepare: async (page) => {
      await page.getByText("New run with changes").click();
      await page.getByLabel("Arguments of the run").fill('{"a": 1}');
    },
    fixed: ["step_id"],
  },
  { file: "inbox/DecisionForm.tsx", path: `inbox/${approval}`, button: "Approve", fixed: ["decision"] },
  {
    file: "inbox/Comments.tsx",
    path: `inbox/${approval}`,
    button: "Send",
    fixed: ["files"],
    prepare: unfold("Comment without deciding"),
  },
  { file: "inbox/Delegate.tsx", path: `inbox/${approval}`, button: "Delegate it", prepare: unfold("Delegate") },
  { file: "inbox/ShareLink.tsx", path: `inbox/${approval}`, button: "Create a link", prepare: unfold("Share a link") },
  {
    file: "inbox/MySubstitute.tsx",
    path: "inbox",
    button: "Name the substitute",
    prepare: (page) => page.getByText("Away for a while?").click(),
  },
];

export const everyForm = (items: Items): WalkedForm[] =>
  [accountForms, privacyForms, knowledgeForms, agentForms, workflowForms].flatMap((forms) => forms(items));
