/**
 * JavaScript of ticks whose answers reach `run()` in the order of the log (ADR 58): a queue of answers, and functions of `Promise`
 * that treat a call without an answer as a pending promise. tickGuest.ts contains this code and declares the names that it uses.
 */
export const RACE_GUEST = `
  const PromiseClass = Promise;
  const { then } = PromiseClass.prototype;
  const GuestAggregateError = AggregateError;
  let isOrdered = false;
  /* Answers that wait for their turn, by their order. */
  const queue = bare([]);
  let delivered = 0;
  const queueAnswer = (value, isFailure) => {
    const order = parse(request("order"));
    return new PromiseClass((resolve, reject) => {
      let n = queue.length;
      for (; n > delivered && queue[n - 1].order > order; n--) queue[n] = queue[n - 1];
      queue[n] = bare({ order, value, settle: isFailure ? reject : resolve });
    });
  };
  /* Delivers the next answer; false when there is none. */
  const deliver = () => {
    if (delivered === queue.length) return false;
    const { settle, value } = queue[delivered];
    queue[delivered++] = undefined;
    settle(value);
    return true;
  };

  /* Nothing waits any more for the calls of a signal. */
  const lose = (n) => {
    if (raised[n].ends || raised[n].lost) return;
    raised[n].lost = true;
    const others = raised[n].others;
    if (others) for (let m = 0; m < others.length; m++) lose(others[m]);
  };
  /*
   * A promise over several. "value" and "failure" get each that settles, and return true when the result is known.
   * Signals count as pending; when every other one has settled and the result is not known, the first signal suspends run().
   */
  const combine = (values, begin) => new PromiseClass((resolve, reject) => {
    const signals = bare([]);
    let isOver = false;
    let isRead = false;
    let count = 0;
    let settled = 0;
    const on = begin(resolve, reject);
    const end = () => {
      isOver = true;
      for (let n = 0; n < signals.length; n++) lose(signals[n]);
    };
    const check = () => {
      if (isOver || !isRead || settled < count) return;
      isOver = true;
      if (signals.length === 0) return on.done();
      raised[signals[0]].others = signals;
      reject(raised[signals[0]].signal);
    };
    for (const value of values) {
      const n = count++;
      apply(then, resolved(value), [
        (result) => {
          settled++;
          if (!isOver && on.value(result, n)) end();
          check();
        },
        (error) => {
          settled++;
          const signal = signalIndex(error);
          if (signal === null) {
            if (!isOver && on.failure(error, n)) end();
          } else if (isOver) lose(signal);
          else signals[signals.length] = signal;
          check();
        },
      ]);
    }
    isRead = true;
    if (count === 0) on.empty();
  });
  const settleWith = (settle) => (value) => {
    settle(value);
    return true;
  };
  const race = (values) => combine(values, (resolve, reject) => bare({
    value: settleWith(resolve),
    failure: settleWith(reject),
    done: () => {},
    empty: () => reject(new GuestTypeError("Promise.race: the list is empty, so nothing can win.")),
  }));
  const any = (values) => combine(values, (resolve, reject) => {
    const errors = [];
    const done = () => reject(new GuestAggregateError(errors, "All promises were rejected"));
    const failure = (error, n) => {
      errors[n] = error;
      return false;
    };
    return bare({ value: settleWith(resolve), failure, done, empty: done });
  });
  const collect = (failureIn, valueIn) => (values) => combine(values, (resolve, reject) => {
    const results = [];
    const done = () => resolve(results);
    const value = (result, n) => {
      results[n] = valueIn(result);
      return false;
    };
    return bare({ value, failure: failureIn(results, reject), done, empty: done });
  });
  const all = collect((_, reject) => settleWith(reject), (value) => value);
  const allSettled = collect(
    (results) => (reason, n) => {
      results[n] = { status: "rejected", reason };
      return false;
    },
    (value) => ({ status: "fulfilled", value }),
  );
  const orderAnswers = () => {
    isOrdered = true;
    for (const [name, combinator] of [["race", race], ["any", any], ["all", all], ["allSettled", allSettled]])
      defineProperty(PromiseClass, name, bare({ value: combinator, writable: true, configurable: true }));
  };
`;
