import type { JudgedQuestion } from "./questions.ts";
import { oneOf, randomFrom } from "./random.ts";

const PRODUCTS = [
  "Orbit CRM",
  "Ledgerly",
  "Kestrel Mail",
  "Foxglove Payroll",
  "Tidewater Storage",
  "Marigold Forms",
  "Quarry Analytics",
  "Bluebell Calendar",
  "Ironwood Firewall",
  "Lantern Helpdesk",
  "Pinecone Chat",
  "Saffron Inventory",
  "Harbor Deploy",
  "Juniper Surveys",
  "Copperline Billing",
  "Willow Wiki",
];

interface Topic {
  title: string;
  section: string;
  questions: string[];
  /** `%` stands for a number that only this article has. */
  answer: string;
  aside: string;
}

const TOPICS: Topic[] = [
  {
    title: "Resetting a password",
    section: "Choosing a new one",
    questions: ["how do I reset my password in", "forgot my password for", "I cannot log in any more to"],
    answer:
      "Press the link below the sign-in form and enter your address. The message that arrives is valid for % minutes; follow it and type a password you have not used before.",
    aside: "Administrators may do the same for others on the members page.",
  },
  {
    title: "Exporting data",
    section: "Making a file",
    questions: ["export all records from", "download my data out of", "how can I get a CSV file from"],
    answer:
      "Open the menu above the table and choose the columns. Files with up to % thousand rows are made at once, larger ones are sent by message when they are ready.",
    aside: "Dates are written as year, month and day whatever your region is.",
  },
  {
    title: "Inviting colleagues",
    section: "Sending an invitation",
    questions: ["add a new user to", "how to invite a teammate to", "give my coworker access to"],
    answer:
      "On the members page type one or several addresses and pick a role. An invitation runs out after % days and can be sent again.",
    aside: "A seat is charged from the moment the invitation is accepted.",
  },
  {
    title: "Invoices and payment",
    section: "Changing the card",
    questions: ["update the credit card for", "change the payment method of", "where do I enter a new bank card in"],
    answer:
      "Only the owner sees the payment page. Enter the new card there; the old one is kept for % days in case the bank declines.",
    aside: "Invoices carry the tax number that was valid on their date.",
  },
  {
    title: "Closing an account",
    section: "Deleting everything",
    questions: ["cancel my subscription to", "how do I delete my account in", "stop using and erase"],
    answer:
      "The owner confirms twice, with the name of the workspace. For % days everything can be brought back by support, then it is destroyed.",
    aside: "Unused months are not refunded unless the law says so.",
  },
  {
    title: "Signing in with your own directory",
    section: "Connecting the directory",
    questions: ["set up single sign-on for", "configure SAML in", "connect our identity provider to"],
    answer:
      "Paste the metadata address of your directory and copy ours back. The certificate has to be renewed every % months; a warning comes a fortnight before.",
    aside: "One owner keeps a password so that nobody is locked out by a mistake.",
  },
  {
    title: "Limits of the interface",
    section: "What counts",
    questions: ["API rate limit of", "how many calls per minute does allow", "too many requests error in"],
    answer:
      "Each token may send % requests a minute, and reads count half. Above it the answer is 429 until the window has moved on.",
    aside: "Tokens belong to a person and end when that person leaves.",
  },
  {
    title: "Restoring what was deleted",
    section: "The bin",
    questions: ["recover a deleted item in", "undo a deletion in", "restore something from the trash of"],
    answer:
      "What you delete lies in the bin for % days. Select it there and press bring back; links to it work again at once.",
    aside: "Emptying the bin asks for the role of an editor.",
  },
  {
    title: "Notifications",
    section: "Fewer messages",
    questions: ["turn off e-mail notifications from", "too many alerts from", "mute messages sent by"],
    answer:
      "In your profile choose all, mentions or none. A digest gathers the rest and comes every % hours on working days.",
    aside: "Messages about safety and payment cannot be silenced.",
  },
  {
    title: "When it is slow or down",
    section: "Finding the cause",
    questions: ["is there an outage of", "pages load slowly in", "what to check when nothing works in"],
    answer:
      "Look at the status page first. If it is green, turn off extensions and try another network. Support needs the request number; it is kept for % days.",
    aside: "Maintenance is announced three days before and done on Sundays.",
  },
  {
    title: "Using it on a telephone",
    section: "Working without a network",
    questions: ["does have an offline mode", "use on my phone without internet", "mobile app of"],
    answer:
      "The last % things you opened stay on the device. Changes wait until there is a network and are merged in the order in which they were made.",
    aside: "Old systems are supported for two years after their last update.",
  },
  {
    title: "Who did what",
    section: "Reading the journal",
    questions: ["audit log of", "see who changed a record in", "track user activity in"],
    answer:
      "The journal lists every change with person, time and address. It goes back % months and may be sent to a collector of your own.",
    aside: "Looking at the journal is written into the journal.",
  },
];

const FILLER = [
  "You need the role of an owner or editor to see this page.",
  "The words in the menu may differ in older versions.",
  "If a button is grey, hover over it to learn why.",
  "Changes apply to the whole workspace and are seen by everyone after a moment.",
  "Ask the person who set up your workspace if you are unsure.",
  "Everything described here is part of each plan.",
  "Write to support with a picture of the screen if this does not help.",
];

export interface Article {
  name: string;
  markdown: string;
}

/** Help articles of invented products, each with a question that only this article answers. */
export const helpArticles = (): { articles: Article[]; questions: JudgedQuestion[] } => {
  const random = randomFrom(7);
  const articles: Article[] = [];
  const questions: JudgedQuestion[] = [];
  for (const [p, product] of PRODUCTS.entries()) {
    for (const [t, topic] of TOPICS.entries()) {
      const answerText = topic.answer.replace("%", String(3 + p * TOPICS.length + t));
      const filler = () => [oneOf(random, FILLER), oneOf(random, FILLER)].join(" ");
      const markdown = [
        `# ${topic.title}`,
        `This article is about ${product}. ${topic.aside} ${filler()}`,
        `## ${topic.section}`,
        `${answerText} ${oneOf(random, FILLER)}`,
        "## If it does not work",
        `${filler()} In ${product} most troubles come from a missing right.`,
      ].join("\n\n");
      articles.push({ name: `${product}: ${topic.title}`, markdown });
      const answer = answerText.slice(0, answerText.lastIndexOf(String(3 + p * TOPICS.length + t)) + 3);
      questions.push([`${oneOf(random, topic.questions)} ${product}`, answer]);
    }
  }
  return { articles, questions };
};

/** Passages of another tenant, with words of the articles and many invented words. */
export function* otherPassages(count: number): Generator<{ name: string; text: string }> {
  const random = randomFrom(11);
  const { articles } = helpArticles();
  const known = articles.flatMap(({ markdown }) => markdown.match(/[a-z]{3,}/gi) ?? []);
  const syllables = ["ka", "lo", "mi", "ter", "ran", "sol", "ve", "pin", "dra", "qui", "os", "el", "fu", "bar", "ne"];
  const invented = Array.from({ length: 30_000 }, () =>
    Array.from({ length: 2 + Math.floor(random() * 3) }, () => oneOf(random, syllables)).join(""),
  );
  // As in natural language, few words are frequent and most are rare.
  const word = () => (random() < 0.6 ? oneOf(random, known) : invented[Math.floor(invented.length * random() ** 3)]!);
  for (let n = 0; n < count; n++) {
    const sentences = Array.from({ length: 10 }, () => Array.from({ length: 14 }, word).join(" "));
    yield { name: `Record ${n % 4_000}`, text: `${sentences.join(". ")}.` };
  }
}
