// catapult.js PACKAGES TRACE: imports TRACE as chrome://tracing does and prints a JSON object: warnings,
// and slices of each thread. The importer is catapult's own, headless under Node.
'use strict';

const fs = require('fs');
const path = require('path');
const vm = require('vm');

// The viewer's script is a row of modules, polyfills for browsers first. Those that draw need a document and
// Polymer, fail here, and are not what we test; `isVinn` is catapult's word for headless.
function loadModel(folder) {
  const source = fs.readFileSync(path.join(folder, 'catapult_trace_viewer.js'), 'utf8');
  const start = source.lastIndexOf("'use strict';", source.indexOf('this.tr=(function()'));
  const world = vm.createContext({isVinn: true, console, performance, setTimeout});
  world.window = world;
  for (const module of source.slice(start).split(/(?='use strict';)/)) {
    try {
      vm.runInContext(module, world);
    } catch (error) {
      if (!/(Polymer|tr\.ui\.|document)/.test(module)) throw error;
    }
  }
  return world.tr;
}

function describe(thread) {
  return {
    name: thread.name || null,
    tid: thread.tid,
    slices: thread.sliceGroup.slices.length,
    unfinished: thread.sliceGroup.slices.filter((slice) => slice.didNotFinish).length,
  };
}

function main([packages, tracePath]) {
  const tr = loadModel(path.join(packages, '@pinpoint-apm', 'perfetto-ui', 'assets'));
  const model = new tr.Model();
  new tr.importer.Import(model).importTraces([fs.readFileSync(tracePath, 'utf8')]);
  const threads = model.getAllThreads().map(describe);
  const warnings = model.importWarnings.map(({type, message}) => `${type}: ${message}`);
  fs.writeSync(1, JSON.stringify({warnings, threads}) + '\n');
}

main(process.argv.slice(2));
