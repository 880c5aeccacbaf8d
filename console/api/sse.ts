/** The JSON of each event of a stream, in order. Ends with the stream, and at `[DONE]`. */
export async function* readEvents<T>(response: Response): AsyncGenerator<T> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const events = (rest + value).split("\n\n");
      rest = events.pop()!;
      for (const event of events) {
        const data = event
          .split("\n")
          .filter((line) => line.startsWith("data: "))
          .map((line) => line.slice("data: ".length))
          .join("\n");
        if (data === "[DONE]") return;
        if (data) yield JSON.parse(data) as T;
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
