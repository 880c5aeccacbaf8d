import type { Answer } from "../attacker.ts";
import { nestedForms } from "../nestedForms.ts";
import { all, many, type Attack } from "./attack.ts";

/* Documents, searches and lists that are many or oddly made. */

export const documents: Attack[] = [
  {
    title: "eight small PDFs of nested form objects",
    async run(attacker) {
      return all(8, (n) => {
        const form = new FormData();
        form.append("file", new Blob([nestedForms(n)]), `forms${n}.pdf`);
        return attacker.send("POST", "/api/v1/extractions", form);
      });
    },
  },
  {
    title: "six documents of 4 MB beside 64 turns",
    async run(attacker) {
      const { upload } = await attacker.collection("Flood");
      const text = "A sentence about nothing in particular. ".repeat(100_000);
      const uploads = many(6, (n) => upload(`# ${n}\n${text}`, `${n}.md`));
      return [...(await all(64, (n) => attacker.turn(`turn ${n}`))), ...(await Promise.all(uploads))];
    },
  },
  {
    title: "2,000 tags on a document",
    mustAnswer: { 400: 5 },
    async run(attacker) {
      const { slug } = await attacker.collection("Tags");
      return all(5, (n) =>
        attacker.send("POST", `/api/v1/knowledge/collections/${slug}/documents/text`, {
          text: `text ${n}`,
          tags: many(2_000, (t) => `tag ${t}`),
        }),
      );
    },
  },
  {
    title: "a search of 10,000 words",
    async run(attacker) {
      const { slug, upload } = await attacker.collection("Search");
      await upload("# Words\nSome words to be found.", "words.md");
      return all(10, () =>
        attacker.send("POST", "/api/v1/knowledge/search", {
          query: many(10_000, (n) => `word${n}`).join(" "),
          collections: [slug],
        }),
      );
    },
  },
  {
    title: "searches with fifteen operators among 1,500 passages",
    async run(attacker) {
      const { slug, upload } = await attacker.collection("Operators");
      const { body } = await upload(`# Words\n${"alpha beta gamma delta. ".repeat(60_000)}`, "operators.md");
      await attacker.whenRead(body.id);
      const required = many(5, (n) => `"${"alpha beta gamma delta ".repeat(n + 1).trim()}"`);
      const excluded = many(10, (n) => `-"delta beta ${n}"`);
      const query = [...required, ...excluded].join(" ");
      return all(20, () => attacker.send("POST", "/api/v1/knowledge/search", { query, collections: [slug] }));
    },
  },
  {
    title: "Markdown that nests 20,000 deep, and a CSV of 200,000 columns",
    async run(attacker) {
      const { upload } = await attacker.collection("Deep");
      return Promise.all([
        upload(">".repeat(20_000), "quotes.md"),
        upload("- ".repeat(20_000), "lists.md"),
        upload("[".repeat(50_000), "links.md"),
        upload(",".repeat(200_000), "wide.csv"),
        upload("<div>".repeat(50_000), "deep.html"),
      ]);
    },
  },
  {
    title: "a CSV of a million columns",
    mustAnswer: { 202: 1 },
    async run(attacker) {
      const { upload } = await attacker.collection("Wide");
      return [await upload(",".repeat(1_000_000), "million.csv")];
    },
  },
  {
    title: "hundreds of filters, orders that do not exist, and pages behind the end",
    mustAnswer: { 200: 40 },
    async run(attacker) {
      const { slug, upload } = await attacker.collection("Filters");
      await upload("# Words\nSome words to be found.", "words.md");
      const values = many(100, (n) => `value ${n}`);
      const metadata = Object.fromEntries(many(16, (n) => [`key${n}`, values]));
      const search = { query: "words", collections: [slug], filter: { tags: { any: values, all: values }, metadata } };
      const tags = many(100, (n) => `tags=t${n}`).join("&");
      const keys = many(16, (n) => `metadata.key${n}=value`).join("&");
      const lists = [
        `/api/v1/knowledge/documents?limit=500&offset=2147483647&${tags}`,
        `/api/v1/knowledge/collections/${slug}/documents?${keys}&${tags}`,
        "/api/events?order=sideways&limit=500",
        `/api/turns?limit=500&question=${many(20, (n) => `word${n}`).join("+")}`,
        `/api/workflows/runs?limit=500&offset=99999999&q=${"a%25".repeat(100)}`,
        "/api/usage?group_by=user&limit=500&offset=2147483647&from=2000-01-01",
      ];
      return [
        ...(await all(60, (n) => attacker.owner("GET", lists[n % lists.length]!))),
        ...(await all(30, () => attacker.send("POST", "/api/v1/knowledge/search", search))),
      ];
    },
  },
  {
    title: "1,000 files of one word",
    async run(attacker) {
      const { upload } = await attacker.collection("Many");
      const answers: Answer[] = [];
      for (let n = 0; n < 20; n++) answers.push(...(await all(50, (m) => upload(`word ${n} ${m}`, `${n}-${m}.txt`))));
      return answers;
    },
  },
  {
    title: "200 projects and 300 filters of unknown names",
    async run(attacker) {
      const made = await all(200, (n) => attacker.owner("POST", "/api/projects", { name: `Project ${n}` }));
      const read = await all(300, (n) =>
        attacker.owner("GET", `/api/events?type=None${n}&stream=${"s".repeat(2_000)}`),
      );
      return [...made, ...read];
    },
  },
];
