// perfetto.js PACKAGES TRACE QUERIES.json: loads TRACE into Perfetto's own engine (trace_processor as wasm)
// and prints a JSON object: for each name in QUERIES ({name: sql}) its rows as arrays. Speaks the engine's
// RPC (protos/perfetto/trace_processor/trace_processor.proto) over the port its worker expects.
'use strict';

const fs = require('fs');
const path = require('path');
const v8 = require('v8');
const {encode, fieldsOf, varintsOf} = require('./protobuf.js');

const APPEND = 1, FINALIZE = 2, QUERY = 3;  // TraceProcessorMethod
const REQUEST = 2, APPEND_DATA = 101, QUERY_ARGS = 103;  // fields of TraceProcessorRpc
const FATAL = 5, APPEND_RESULT = 201, QUERY_RESULT = 203;
const NULL = 1, VARINT = 2, FLOAT = 3, STRING = 4, BLOB = 5;  // CellsBatch.CellType
const CHUNK = 8 << 20;

// The engine answers a few questions and ends: optimising its 7 MB takes longer than all of it.
v8.setFlagsFromString('--liftoff-only');
v8.setFlagsFromString('--wasm-lazy-compilation');

function fail(message) {
  throw new Error(message);
}

// The worker's end of the channel; `heard` gets every reply. The wasm is instantiated while the script is
// evaluated, the bridge's own initialisation follows in promises: one turn of the event loop later it is done.
async function startEngine(folder, heard) {
  const worker = {};
  const port = {postMessage: heard};
  process.chdir(folder);  // where the engine looks for its wasm
  const source = fs.readFileSync('engine_bundle.js', 'utf8');
  new Function('require', 'self', '__dirname', source)(require, worker, folder);
  worker.onmessage({data: {enginePort: port}});
  await new Promise((resolve) => setTimeout(resolve, 0));
  return port;
}

// Rows of one CellsBatch, added to `rows`.
function readBatch(bytes, columns, rows) {
  let cells = [], varints = [], floats = Buffer.alloc(0), strings = [], blobs = [];
  for (const {number, value} of fieldsOf(bytes)) {
    if (number === 1) cells = varintsOf(value).map(Number);
    else if (number === 2) varints = varintsOf(value);
    else if (number === 3) floats = value;
    else if (number === 4) blobs.push(value);
    else if (number === 5) strings = value.toString().split('\0');
  }
  let v = 0, f = 0, s = 0, b = 0;
  const cell = {
    [NULL]: () => null,
    [VARINT]: () => Number(varints[v++]),
    [FLOAT]: () => floats.readDoubleLE(8 * f++),
    [STRING]: () => strings[s++],
    [BLOB]: () => blobs[b++].toString('hex'),
  };
  for (let i = 0; i < cells.length; i += columns) {
    rows.push(cells.slice(i, i + columns).map((type) => cell[type]()));
  }
}

class Engine {
  constructor() {
    this.columns = 0;
    this.rows = [];
  }

  async start(folder) {
    this.port = await startEngine(folder, (bytes) => this.hear(bytes));
  }

  hear(stream) {
    for (const {value: message} of fieldsOf(stream)) {
      for (const {number, value} of fieldsOf(message)) {
        if (number === FATAL) fail(value.toString());
        if (number === APPEND_RESULT) this.hearAppended(value);
        if (number === QUERY_RESULT) this.hearRows(value);
      }
    }
  }

  hearAppended(bytes) {
    for (const {number, value} of fieldsOf(bytes)) if (number === 2 && value.length) fail(value.toString());
  }

  hearRows(bytes) {
    for (const {number, value} of fieldsOf(bytes)) {
      if (number === 1) this.columns++;
      else if (number === 2 && value.length) fail(value.toString());
      else if (number === 3) readBatch(value, this.columns, this.rows);
    }
  }

  send(...fields) {
    const message = encode([[1, this.sent = (this.sent || 0) + 1], ...fields]);
    this.port.onmessage({data: new Uint8Array(encode([[1, message]]))});
  }

  load(trace) {
    for (let at = 0; at < trace.length; at += CHUNK) {
      this.send([REQUEST, APPEND], [APPEND_DATA, trace.subarray(at, at + CHUNK)]);
    }
    this.send([REQUEST, FINALIZE]);
  }

  query(sql) {
    this.columns = 0;
    this.rows = [];
    this.send([REQUEST, QUERY], [QUERY_ARGS, encode([[1, sql]])]);
    return this.rows;
  }
}

async function main([packages, tracePath, queriesPath]) {
  const trace = fs.readFileSync(tracePath);
  const queries = JSON.parse(fs.readFileSync(queriesPath, 'utf8'));
  const engine = new Engine();
  await engine.start(path.join(packages, '@pinpoint-apm', 'perfetto-ui'));
  engine.load(trace);
  const answers = {};
  for (const [name, sql] of Object.entries(queries)) answers[name] = engine.query(sql);
  fs.writeSync(1, JSON.stringify(answers) + '\n');
  process.exit(0);
}

main(process.argv.slice(2)).catch((error) => {
  console.error(error.stack);
  process.exit(1);
});
