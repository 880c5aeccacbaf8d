import { parentPort, workerData } from "node:worker_threads";
import { describeApi, type DescribedSettings } from "#http/describeApi.ts";

/* The thread that describes the API, once for each process that is asked. */

parentPort!.postMessage(await describeApi(workerData as DescribedSettings));
