import OpenAI, { toFile } from "openai";
import { beforeEach, describe, expect, test } from "vitest";
import { PDF, PNG, startDeployment } from "./deployment.ts";

const deployment = await startDeployment();
const client = new OpenAI({ apiKey: deployment.api_key, baseURL: deployment.base_url });
beforeEach(() => deployment.answers({ text: "Seen", usage: null }));

const model = "openai/gpt-test";
const upload = async (
  text = "Stored words",
  name = "words.txt",
  type = "text/plain",
  purpose: OpenAI.FilePurpose = "user_data",
) => client.files.create({ file: await toFile(Buffer.from(text), name, { type }), purpose });

describe("attachments reach the provider", () => {
  const text = { type: "text" as const, text: "Look" };
  const url = `data:image/png;base64,${PNG}`;
  const forms: [string, OpenAI.ChatCompletionContentPart, unknown][] = [
    ["an image", { type: "image_url", image_url: { url, detail: "low" } }, { type: "image_url", image_url: { url } }],
    [
      "a file as a data URL",
      { type: "file", file: { file_data: `data:application/pdf;base64,${PDF}`, filename: "a.pdf" } },
      { type: "file", file: { filename: "a.pdf", file_data: `data:application/pdf;base64,${PDF}` } },
    ],
    [
      "a file as bare base64, its type from the name",
      { type: "file", file: { file_data: PDF, filename: "b.pdf" } },
      { type: "file", file: { filename: "b.pdf", file_data: `data:application/pdf;base64,${PDF}` } },
    ],
    [
      "a file without a name",
      { type: "file", file: { file_data: `data:application/pdf;base64,${PDF}` } },
      { type: "file", file: { filename: "file.pdf", file_data: `data:application/pdf;base64,${PDF}` } },
    ],
  ];

  test.each(forms)("%s", async (_name, part, sent) => {
    const { choices, usage } = await client.chat.completions.create({
      model,
      messages: [{ role: "user", content: [part, text] }],
    });
    expect(choices[0]).toMatchObject({ message: { content: "Seen" }, finish_reason: "stop" });
    expect(usage!.prompt_tokens).toBeGreaterThan(0);
    expect(deployment.asked().messages).toEqual([{ role: "user", content: [text, sent] }]);
  });

  test("an uploaded file, as a part and in the attachments extension", async () => {
    const { id } = await upload();
    const file = {
      filename: "words.txt",
      file_data: `data:text/plain;base64,${Buffer.from("Stored words").toString("base64")}`,
    };
    await client.chat.completions.create({
      model,
      messages: [{ role: "user", content: [text, { type: "file", file: { file_id: id } }] }],
    });
    expect(deployment.asked().messages[0].content).toEqual([text, { type: "file", file }]);
    const extended = { model, messages: [{ role: "user" as const, content: "Look" }], attachments: [id] };
    await client.chat.completions.create(extended);
    expect(deployment.asked().messages[0].content).toEqual([text, { type: "file", file }]);
  });

  test("later turns of the thread still see the attachments, even after the file's deletion", async () => {
    const { id } = await upload("Kept");
    const content = [text, { type: "file" as const, file: { file_id: id } }];
    const { headers } = await client.chat.completions
      .create({ model, messages: [{ role: "user", content }] })
      .asResponse();
    const first = deployment.asked().messages[0];
    await client.files.delete(id);
    const thread = { headers: { "x-thread-id": headers.get("x-thread-id")! } };
    await client.chat.completions.create({ model, messages: [{ role: "user", content: "Still?" }] }, thread);
    expect(deployment.asked().messages).toEqual([
      first,
      { role: "assistant", content: "Seen" },
      { role: "user", content: "Still?" },
    ]);
  });
});

describe("files", () => {
  test("are created, read, listed and deleted", async () => {
    const file = await upload("Some words", "some.txt", "text/plain", "assistants");
    expect(file).toMatchObject({
      object: "file",
      bytes: 10,
      filename: "some.txt",
      purpose: "assistants",
      status: "processed",
    });
    expect(Math.abs(file.created_at - Date.now() / 1000)).toBeLessThan(60);
    expect(await client.files.retrieve(file.id)).toEqual(file);
    const content = await client.files.content(file.id);
    expect(await content.text()).toBe("Some words");
    expect(content.headers.get("content-type")).toBe("text/plain");
    expect((await client.files.list()).data[0]).toEqual(file);
    expect(await client.files.delete(file.id)).toEqual({ id: file.id, object: "file", deleted: true });
    await expect(client.files.retrieve(file.id)).rejects.toThrow(OpenAI.NotFoundError);
  });

  test("are processed as soon as they are uploaded", async () => {
    const { id } = await upload();
    expect(await client.files.waitForProcessing(id, { pollInterval: 60_000, maxWait: 1_000 })).toMatchObject({
      id,
      status: "processed",
    });
  });

  test("are listed by their purpose", async () => {
    const { id } = await client.files.create({ file: await toFile(Buffer.from("x"), "x.txt"), purpose: "vision" });
    const purposes = new Set<string>();
    for await (const file of client.files.list({ purpose: "vision" })) purposes.add(file.purpose);
    expect([...purposes]).toEqual(["vision"]);
    const { data } = await client.files.list({ purpose: "batch" });
    expect(data.map((file) => file.id)).not.toContain(id);
  });

  test("pages of the list end", async () => {
    const { id } = await upload("last");
    const ids: string[] = [];
    for await (const file of client.files.list({ limit: 1 })) ids.push(file.id);
    expect(ids[0]).toBe(id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("belong to the user value of the request", async () => {
    const body = { file: await toFile(Buffer.from("hers"), "hers.txt"), purpose: "user_data" as const, user: "ada" };
    const { id } = await client.files.create(body);
    await expect(client.files.retrieve(id)).rejects.toThrow(OpenAI.NotFoundError);
    expect(await client.files.retrieve(id, { query: { user: "ada" } })).toMatchObject({ id, filename: "hers.txt" });
  });

  test("keep their bytes", async () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, n) => n));
    const { id, bytes: size } = await client.files.create({
      file: await toFile(bytes, "größe 🎉.bin"),
      purpose: "user_data",
    });
    expect(size).toBe(256);
    expect(Buffer.from(await (await client.files.content(id)).arrayBuffer())).toEqual(bytes);
    expect((await client.files.retrieve(id)).filename).toBe("größe 🎉.bin");
  });
});

describe("models", () => {
  test("are listed: those of the provider and the offline ones", async () => {
    const models: OpenAI.Model[] = [];
    for await (const one of client.models.list()) models.push(one);
    expect(models.map(({ id }) => id)).toEqual(
      expect.arrayContaining([
        "offline/echo",
        "offline/extractive",
        "offline/scripted",
        "openai/gpt-test",
        "openai/gpt-other",
      ]),
    );
    expect(
      models.every(({ object, created, owned_by }) => object === "model" && Number.isInteger(created) && owned_by),
    ).toBe(true);
  });

  test.each(["openai/gpt-test", "offline/echo"])("%s is found by its name", async (id) => {
    expect(await client.models.retrieve(id)).toMatchObject({ id, object: "model" });
  });

  test.each(["openai/gpt-none", "offline/none", "nobody/gpt-test", "gpt-test"])("%s is not found", async (id) => {
    await expect(client.models.retrieve(id)).rejects.toMatchObject({ status: 404, code: "model_not_found" });
  });
});
