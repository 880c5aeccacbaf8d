import { expect, test } from "vitest";
import { aLibrary } from "./library.ts";

const its = await aLibrary();
const filler = (count: number): string[] =>
  Array.from({ length: count }, (_, n) => `The office opens at ${n} and the printer is on floor ${n}.`);
const first = async (...asked: Parameters<typeof its.ask>) => (await its.contents(...asked))[0];

test("a question in whole sentences finds the passage, even if no passage contains all of its words", async () => {
  const shelf = await its.shelf();
  await its.add(shelf, [...filler(30), "Reimbursement of travel costs takes ten working days after approval."]);
  const question =
    "Hello, could you please tell me how many days it usually takes until the costs of my travelling to Lisbon are reimbursed?";
  expect(await first(shelf, question)).toMatch(/^Reimbursement/);
});

test("a word that is rare in the collection weighs more than frequent words", async () => {
  const shelf = await its.shelf();
  await its.add(shelf, [...filler(40), "On floor 99 there is a defibrillator."]);
  expect(await first(shelf, "printer office floor defibrillator")).toMatch(/defibrillator/);
});

test("a passage with all words ranks above one that repeats a single word", async () => {
  const shelf = await its.shelf();
  await its.add(shelf, [
    "Parking, parking, parking: parking is parking.",
    "Parking for visitors in winter is behind the barn.",
    "Visitors come in winter.",
    ...filler(5),
  ]);
  expect(await first(shelf, "winter parking visitors")).toMatch(/^Parking for visitors/);
});

test("other forms of a word are found, and so are misspelt words", async () => {
  const shelf = await its.shelf();
  await its.add(shelf, [
    "Policies on hiking were constructed.",
    "Something else entirely.",
    "Installation of the boiler",
  ]);
  for (const asked of ["policy", "hike", "constructing", "hikes"])
    expect(await its.contents(shelf, asked), asked).toEqual(["Policies on hiking were constructed."]);
  expect(await first(shelf, "instalation")).toBe("Installation of the boiler");
});

test("an exact word ranks above a word with the same beginning", async () => {
  const shelf = await its.shelf();
  await its.add(shelf, ["A carton of cards and a carpet", "She cares, and carries a carafe", "The car is red and old"]);
  expect(await first(shelf, "car")).toBe("The car is red and old");
});

test("the name of the document and the headings count, and more than the text", async () => {
  const shelf = await its.shelf();
  await its.add(shelf, [{ text: "It is fifteen euros a year.", section: "Fees > Membership" }], { name: "Choir.docx" });
  await its.add(shelf, [
    "A choir was mentioned once, with its membership, in a long text about birds and other things.",
  ]);
  expect(await first(shelf, "choir membership fee")).toBe("It is fifteen euros a year.");
});

test("a table's later rows are found by the words of its header", async () => {
  const shelf = await its.shelf();
  await its.add(shelf, [
    { text: "| Oslo | 12 |", lead: "| City | Warehouses |" },
    "Warehouses are large.",
    ...filler(3),
  ]);
  expect(await first(shelf, "warehouses in Oslo")).toBe("| Oslo | 12 |");
});

test("a quoted phrase ranks the passage with the phrase first", async () => {
  const shelf = await its.shelf();
  await its.add(shelf, [
    "Notice of leave, leave of notice: notice and leave are leave and notice.",
    "Whoever goes must give leave notice in a letter that is signed and dated and sent by post to the house.",
  ]);
  expect(await first(shelf, "leave notice")).toMatch(/^Notice/);
  expect(await first(shelf, '"leave notice"')).toMatch(/^Whoever/);
});

test("questions in other languages find their answers", async () => {
  const shelf = await its.shelf();
  const answers = {
    "Wie lange ist die Kündigungsfrist für Verträge?":
      "Der Vertrag kann mit einer Kündigungsfrist von drei Monaten beendet werden.",
    "Combien de jours de congés avons-nous ?": "Chaque salarié a droit à vingt-cinq jours de congé.",
    "¿Cuándo se pagan las facturas?": "La factura se paga en treinta días.",
    "Сколько стоит доставка?": "Стоимость доставки составляет триста рублей.",
    有給休暇は何日ですか: "有給休暇は年に二十日あります。",
    "数据库多久备份一次?": "每天晚上备份数据库。",
  };
  await its.add(shelf, [...Object.values(answers), ...filler(10)]);
  for (const [question, answer] of Object.entries(answers)) expect(await first(shelf, question)).toBe(answer);
});
