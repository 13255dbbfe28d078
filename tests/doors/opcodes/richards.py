"""Devices, handlers and packets in a small scheduler, after the benchmark of that name."""


class Packet:
    def __init__(self, link, ident, kind):
        self.link, self.ident, self.kind, self.data = link, ident, kind, [0] * 4

    def append_to(self, packets):
        self.link = None
        if packets is None:
            return self
        last = packets
        while last.link is not None:
            last = last.link
        last.link = self
        return packets


class Task:
    def __init__(self, ident, priority, work):
        self.ident, self.priority, self.packets, self.work, self.waiting = ident, priority, work, None, False
        self.packets = work

    def take(self):
        packet, self.packets = self.packets, self.packets.link
        return packet

    def run(self, world):
        raise NotImplementedError


class Worker(Task):
    count = 0

    def run(self, world):
        packet = self.take()
        packet.ident = 2 if packet.ident == 1 else 1
        for i in range(4):
            self.count = self.count + 1 if self.count < 26 else 1
            packet.data[i] = self.count + 64
        world.send(packet)


class Device(Task):
    def run(self, world):
        packet = self.take()
        world.done += packet.kind == "device" and sum(packet.data) % 3
        packet.ident = 0
        if world.left:
            world.left -= 1
            world.send(packet)


class World:
    def __init__(self, left):
        self.left, self.done, self.sent = left, 0, 0
        work = Packet(None, 0, "work")
        device = Packet(Packet(None, 1, "device"), 2, "device")
        self.tasks = [Worker(0, 10, work), Device(1, 20, device), Device(2, 30, None)]

    def send(self, packet):
        self.sent += 1
        task = self.tasks[packet.ident]
        task.packets = packet.append_to(task.packets)

    def run(self):
        while True:
            ready = [task for task in self.tasks if task.packets is not None]
            if not ready:
                return
            max(ready, key=lambda task: task.priority).run(self)


world = World(150)
world.run()
print(world.sent, world.done)
