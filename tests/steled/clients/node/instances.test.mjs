// Instances, clusters, app profiles and permissions.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {bigtable, codes, fails, newTable} from './client.mjs';

test('instances: create, list, get, rename, delete', async () => {
  const made = bigtable.instance('made');
  const [, creation] = await made.create({
    displayName: 'Made', clusters: [{id: 'made-c', location: 'us-central1-b', nodes: 3, storage: 'ssd'}],
  });
  await creation.promise();
  assert.deepEqual(await made.exists(), [true]);
  assert.equal((await made.getMetadata())[0].displayName, 'Made');
  assert.ok((await bigtable.getInstances())[0].some(({id}) => id === 'made'));
  const [renaming] = await made.setMetadata({displayName: 'Renamed'});
  await renaming.promise?.();
  assert.equal((await made.getMetadata())[0].displayName, 'Renamed');
  assert.deepEqual((await made.getClusters())[0].map(({id}) => id), ['made-c']);
  assert.deepEqual(await made.cluster('made-c').exists(), [true]);
  const cluster = made.cluster('made-c');
  for (const metadata of [{nodes: 4}, {minServeNodes: 2, maxServeNodes: 5, cpuUtilizationPercent: 50}, {nodes: 3}]) {
    const [update] = await cluster.setMetadata(metadata);
    await update.promise();
  }
  assert.equal((await cluster.getMetadata())[0].serveNodes, 3);
  await made.delete();
  assert.ok(!(await bigtable.getInstances())[0].some(({id}) => id === 'made'));
});

test('app profiles: create, list, get, change, delete', async () => {
  const made = bigtable.instance('profiles');
  const [, creation] = await made.create({clusters: [{id: 'profiles-c', location: 'us-central1-b', nodes: 1}]});
  await creation.promise();
  const [profile] = await made.createAppProfile('batch', {routing: 'any', description: 'in bulk', ignoreWarnings: true});
  assert.equal((await profile.getMetadata())[0].description, 'in bulk');
  assert.ok((await made.getAppProfiles())[0].some(({id}) => id === 'batch'));
  const [change] = await profile.setMetadata({description: 'changed', routing: 'any', ignoreWarnings: true});
  await change.promise?.();
  assert.equal((await profile.getMetadata())[0].description, 'changed');
  await fails(made.createAppProfile('batch', {routing: 'any', ignoreWarnings: true}), codes.ALREADY_EXISTS);
  await profile.delete({ignoreWarnings: true});
  assert.deepEqual(await profile.exists(), [false]);
});

test('permissions', async () => {
  const table = await newTable('iam');
  const asked = ['bigtable.tables.readRows', 'bigtable.tables.mutateRows'];
  assert.deepEqual((await table.testIamPermissions(asked))[0], asked);
  const [policy] = await table.setIamPolicy({bindings: [{role: 'roles/bigtable.reader', members: ['user:a@example.org']}]});
  assert.equal(policy.bindings.length, 1);
  assert.equal((await table.getIamPolicy())[0].bindings[0].role, 'roles/bigtable.reader');
});
