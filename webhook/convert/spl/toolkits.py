"""Operators of public SPL toolkits inside which no operator is placed on hosts: primitive ones, and such composites.

The names are those of operator models, annotations and programs in the public repositories of IBMStreams on GitHub: the
standard toolkit in ``OSStreams``, all others in the ``streamsx`` repository that their namespace names.
"""

from collections.abc import Mapping
from typing import Final

KNOWN_TOOLKITS: Final = ("spl.", "com.ibm.streams.", "com.ibm.streamsx.")
"""How the namespaces of public toolkits begin: the standard toolkit, those of the product, and those on GitHub."""

STANDARD_TOOLKIT: Final = ("spl.adapter", "spl.control", "spl.relational", "spl.utility", "spl.XML")
"""Namespaces whose operators need no ``use`` directive."""

PLACING_COMPOSITES: Final = frozenset({"spl.utility::ReplayableStart"})
"""Composites of public toolkits that place the operators inside of them on hosts."""

_OPERATORS: Final[Mapping[str, str]] = {
    "com.ibm.streamsx.elasticsearch": "ElasticsearchIndex",
    "com.ibm.streamsx.hbase": "HBASEDelete HBASEGet HBASEIncrement HBASEPut HBASEScan",
    "com.ibm.streamsx.hdfs": "HDFS2DirectoryScan HDFS2FileCopy HDFS2FileSink HDFS2FileSource",
    "com.ibm.streamsx.health.analyze.ecg": "QRSDetector",
    "com.ibm.streamsx.health.ingest.physionet": "PhysionetGetSignals",
    "com.ibm.streamsx.inet": "InetSource",
    "com.ibm.streamsx.inet.ftp": "FTPCommand FTPPutFile FTPReader",
    "com.ibm.streamsx.inet.http": (
        "HTTPGetJSONContent HTTPGetStream HTTPGetXMLContent HTTPParallelRequest HTTPPost HTTPRequest HTTPRequestProcess"
    ),
    "com.ibm.streamsx.inet.rest": (
        "HTTPBLOBInjection HTTPJSONInjection HTTPRequestProcess HTTPTupleInjection HTTPTupleView "
        "HTTPXMLInjection HTTPXMLView WebContext"
    ),
    "com.ibm.streamsx.inet.util": "Deserializer Serializer",
    "com.ibm.streamsx.inet.wsserver": "WebSocketInject WebSocketSend WebSocketSendReceive",
    "com.ibm.streamsx.iot": (
        "CommandPublish CommandTupleToPayload CommandsSubscribe DeviceEventExtractData EventsSubscribe "
        "StatusesSubscribe"
    ),
    "com.ibm.streamsx.iot.watson": (
        "AllDevices DeviceCommands DeviceEvents DeviceStatuses Raw2DeviceEvent SendCommandToDevice"
    ),
    "com.ibm.streamsx.iot.watson.quickstart": "QuickstartDeviceEvents",
    "com.ibm.streamsx.jdbc": "JDBCRun",
    "com.ibm.streamsx.jms": "JMSSink JMSSource",
    "com.ibm.streamsx.json": "JSONToTuple TupleToJSON",
    "com.ibm.streamsx.kafka": "KafkaConsumer KafkaProducer",
    "com.ibm.streamsx.mapviewer": "MapViewer",
    "com.ibm.streamsx.messagehub": "MessageHubConsumer MessageHubProducer",
    "com.ibm.streamsx.messaging.jms": "JMSSink JMSSource",
    "com.ibm.streamsx.messaging.kafka": "KafkaConsumer KafkaProducer KafkaSink KafkaSource",
    "com.ibm.streamsx.messaging.mqtt": "MQTTSink MQTTSource",
    "com.ibm.streamsx.messaging.rabbitmq": "RabbitMQSink RabbitMQSource",
    "com.ibm.streamsx.messaging.xms": "XMSSink XMSSource",
    "com.ibm.streamsx.monitoring.jobs": "JobStatusMonitor JobStatusSource",
    "com.ibm.streamsx.monitoring.jobs.services": "JobStatusSubscriber",
    "com.ibm.streamsx.monitoring.metrics": "MetricsMonitor MetricsSource",
    "com.ibm.streamsx.monitoring.system": "LogSource SystemMonitorSource",
    "com.ibm.streamsx.mqtt": "MQTTSink MQTTSource",
    "com.ibm.streamsx.network.content": "PacketContentAssembler",
    "com.ibm.streamsx.network.dns": "DNSPacketDPDKSource DNSPacketFileSource DNSPacketLiveSource",
    "com.ibm.streamsx.network.domains": "ExtractDomain SimpleExtractDomain",
    "com.ibm.streamsx.network.enrichment": "IPASNEnricher IPSpatialEnricher",
    "com.ibm.streamsx.network.filter": "IPFilter TextFilter",
    "com.ibm.streamsx.network.location": "IPAddressLocation",
    "com.ibm.streamsx.network.parse": "DHCPMessageParser DNSMessageParser IPFIXMessageParser NetflowMessageParser",
    "com.ibm.streamsx.network.rtp": "RtpDecode",
    "com.ibm.streamsx.network.sink": "PacketFileSink",
    "com.ibm.streamsx.network.source": "PacketDPDKSource PacketFileSource PacketLiveSource",
    "com.ibm.streamsx.nlp": (
        "ContentRanking ContentRankingModelBuilder2 DictionaryFilter IdfCorpusBuilder Lemmatizer "
        "LinearClassification LinearClassificationModelBuilder2 NgramBasic Ngrams RutaCas RutaText "
        "TfIdfWeight UimaCas UimaText"
    ),
    "com.ibm.streamsx.objectstorage": "ObjectStorageScan ObjectStorageSink ObjectStorageSource",
    "com.ibm.streamsx.objectstorage.s3": "S3ObjectStorageScan S3ObjectStorageSink S3ObjectStorageSource",
    "com.ibm.streamsx.plumbing.balancers": "ElasticLoadBalance",
    "com.ibm.streamsx.plumbing.control": "ControlVariableChange",
    "com.ibm.streamsx.plumbing.delay": "KeyedDelay",
    "com.ibm.streamsx.plumbing.leader": "LeadershipChangeover LeadershipSwitchWithReplay",
    "com.ibm.streamsx.plumbing.replay": "ReplayBuffer",
    "com.ibm.streamsx.plumbing.sampling": "RandomSample",
    "com.ibm.streamsx.plumbing.shedders": "ExpressionLoadShedder RandomLoadShedder",
    "com.ibm.streamsx.plumbing.switches": "Changeover ControlledChangeover ControlledSwitch TraceLevelSwitch",
    "com.ibm.streamsx.plumbing.synchronize": "Synchronize",
    "com.ibm.streamsx.store.distributed": "DPSAux DpsGetTTLWithReconnect DpsPutTTLWithReconnect",
    "com.ibm.streamsx.sttgateway.watson": "IAMAccessTokenGenerator IBMVoiceGatewaySource WatsonSTT",
    "com.ibm.streamsx.topology.functional.python": (
        "Aggregate Filter FlatMap ForEach HashAdder Map Punctor Source Split"
    ),
    "com.ibm.streamsx.topology.topic": "Buffered Direct FilteredSubscribe Publish PublishJava Subscribe SubscribeJava",
    "com.ibm.streamsx.utility": "AdaptiveTupleCounter",
    "spl.XML": "XMLParse",
    "spl.adapter": "DirectoryScan Export FileSink FileSource Import MetricsSink TCPSink TCPSource UDPSink UDPSource",
    "spl.compat": "V1TCPSink V1TCPSource",
    "spl.control": "JobControlPlane",
    "spl.relational": "Aggregate Filter Functor Join Punctor Sort",
    "spl.utility": (
        "Barrier Beacon CharacterTransform Compress Custom DeDuplicate Decompress Delay DynamicFilter Format "
        "Gate JavaOp Pair Parse Split Switch ThreadedSplit Throttle Union"
    ),
}

TOOLKIT_OPERATORS: Final[Mapping[str, frozenset[str]]] = {
    namespace: frozenset(names.split()) for namespace, names in _OPERATORS.items()
}
"""The operators of each namespace."""
